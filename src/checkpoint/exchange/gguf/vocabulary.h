// Reads the tokenizer, the chat template and the stop ids from the metadata of a GGUF file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/exchange/gguf/header.h"

namespace ingot {

struct GgufText {
  std::vector<int32_t> stop_ids;  // ascending
  std::string chat_template;      // empty: none
  std::string tokenizer;          // contents of a file for load_tokenizer()
  std::string config;             // its tokenizer_config.json
};

// Includes the tokenizer only on request; it gives llama.cpp's ids. Throws ErrorCode::Data naming
// the key for an unknown tokenizer.
GgufText gguf_text_of(const GgufHeader& header, bool with_tokenizer);

}  // namespace ingot
