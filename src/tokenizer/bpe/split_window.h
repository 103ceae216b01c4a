// The patterns 64 bytes at a time: character classes as bit masks, piece boundaries by bit
// operations.
//
// A window starts at the start of a piece, so nothing before it matters. It yields the boundaries
// that no later text can change, and the next window starts at the last of them: no state is
// carried over. Cases that masks cannot decide (a run longer than a window, rare characters) go to
// split_scalar.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/device/isa.h"
#include "tokenizer/bpe/split.h"

namespace ingot::cpu {

INGOT_CPU_KERNEL(size_t, split_windows,
                 (Split split, std::string_view text, std::span<uint32_t> ends))  // as split_some()

}  // namespace ingot::cpu
