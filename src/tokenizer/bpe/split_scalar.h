// The patterns character by character: the reference for the tests of the fast path, and its
// fallback.
#pragma once

#include <cstddef>
#include <string_view>

#include "tokenizer/bpe/split.h"

namespace ingot {

// The size of the first piece of `text`, which must not be empty.
size_t first_piece(Split split, std::string_view text);

}  // namespace ingot
