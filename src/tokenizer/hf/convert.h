// Converts piece models from SentencePiece's .model to tokenizer.json and back.
#pragma once

#include <string>
#include <string_view>

#include "tokenizer/hf/json_fields.h"
#include "tokenizer/sentencepiece/model.h"

namespace ingot {

// The contents of a tokenizer.json, or of a .model file, that give the same ids; docs/tokenizer.md
// lists the exceptions. Both throw ErrorCode::Data, naming the component and `origin`, if the other
// format cannot express it. `other_ids` as in tokenizer/convert.h.
std::string tokenizer_json_of(const SentencePieceModel& model, std::string_view origin);
std::string sentencepiece_file_of(const Json& tokenizer, std::string_view origin,
                                  std::string* other_ids = nullptr);

}  // namespace ingot
