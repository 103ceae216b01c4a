// The patterns 64 bytes at a time: character classes as bit masks, piece boundaries by bit algebra.
//
// A window starts where a piece starts, so nothing before it matters. It gives those boundaries
// that nothing after it can change, and the next window starts at the last of them: no state is
// carried. What masks cannot decide (a run longer than a window, rare characters) is left to
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
