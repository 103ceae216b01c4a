// A tokenizer against the vocabulary of a model: the one rule for runs and imports.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/error/error.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// Throws an Error of `code`, which ends with `advice`, if the tokenizer has ids that a model of
// `vocab` ids does not have. A model may have more: many are padded.
void check_vocabulary(const Tokenizer& tokenizer, int64_t vocab, ErrorCode code,
                      std::string_view advice);

}  // namespace ingot
