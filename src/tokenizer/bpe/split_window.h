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

#include "tokenizer/bpe/split.h"

namespace ingot {

enum class SplitIsa { Generic, Avx2 };
SplitIsa best_split_isa();  // of this machine

// As split_some(), by the code of that ISA; the machine must have it.
size_t split_windows(SplitIsa isa, Split split, std::string_view text, std::span<uint32_t> ends);

// split_window.cpp is compiled once for each.
namespace split_generic {
size_t split_windows(Split split, std::string_view text, std::span<uint32_t> ends);
}
namespace split_avx2 {
size_t split_windows(Split split, std::string_view text, std::span<uint32_t> ends);
}

}  // namespace ingot
