// Converts a tokenizer to another file format.
#pragma once

#include <string>
#include <string_view>

#include "tokenizer/tokenizer.h"

namespace ingot {

// The contents of a file `name`, whose extension selects the format: .json and .tiktoken for
// byte-level BPE, .model and .json for SentencePiece, .bin for llama2.c. Reading the file back
// gives the same ids for the same text. A .tiktoken file has no pattern and no special tokens; the
// reader must know them. Throws ErrorCode::Data with the reason if the format cannot hold the
// tokenizer, and ErrorCode::Usage for an unknown extension. A Metaspace that adds a mark only to
// texts that do not begin with one can be approximated by SentencePiece's dummy prefix, which
// precedes every text. This is done if `other_ids` is given: it is set to a description of the
// texts that get other ids, and is unchanged if there are none.
std::string file_as(const Tokenizer& tokenizer, std::string_view name,
                    std::string* other_ids = nullptr);

}  // namespace ingot
