// The patterns character by character: the definition the fast path is tested against, and what it
// falls back to.
#pragma once

#include <cstddef>
#include <string_view>

#include "tokenizer/bpe/split.h"

namespace ingot {

// The size of the piece that `text`, which must not be empty, begins with.
size_t first_piece(Split split, std::string_view text);

}  // namespace ingot
