// A tokenizer as a file of another format.
#pragma once

#include <string>
#include <string_view>

#include "tokenizer/tokenizer.h"

namespace ingot {

// The contents of a file called `name`, whose extension says the format: .json and .tiktoken for
// byte-level BPE, .model and .json for SentencePiece, .bin for llama2.c. What is read back gives
// the same ids for the same text; .tiktoken has no place for the pattern and the special tokens,
// which the reader must know. Throws ErrorCode::Data where that cannot be, saying why, and
// ErrorCode::Usage for a name without a known extension.
// With `other_ids`, a Metaspace that puts a mark only before texts that do not begin with one
// becomes SentencePiece's dummy prefix, which stands before every text: `other_ids` then says which
// texts get other ids, and is left as it is where none do.
std::string file_as(const Tokenizer& tokenizer, std::string_view name,
                    std::string* other_ids = nullptr);

}  // namespace ingot
