// SentencePiece .model files: unigram and BPE models.
#pragma once

#include <memory>
#include <string_view>

#include "tokenizer/sentencepiece/model.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// A tokenizer that gives the ids that SentencePiece 0.2.2 gives, without needing the library. Its
// kind() is "sentencepiece", its serialize() the file as it was. decode() of ids is SentencePiece's
// too: spaces that the normaliser dropped and characters that it replaced do not come back.
// Throws ErrorCode::Data on anything that does not parse.
std::unique_ptr<Tokenizer> parse_sentencepiece(std::string_view file, std::string_view origin);

}  // namespace ingot
