// SentencePiece .model files: unigram and BPE models.
#pragma once

#include <memory>
#include <string_view>

#include "tokenizer/sentencepiece/model.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// A tokenizer with the ids of SentencePiece 0.2.2, without the library. Its kind() is
// "sentencepiece", its serialize() the unchanged file. decode() is also SentencePiece's: spaces
// that the normaliser dropped and characters that it replaced are not restored. Throws
// ErrorCode::Data if the file does not parse.
std::unique_ptr<Tokenizer> parse_sentencepiece(std::string_view file, std::string_view origin);

}  // namespace ingot
