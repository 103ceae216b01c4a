// What the metadata of a GGUF file says of text: the tokenizer, the chat template, which ids end a
// text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/exchange/gguf_header.h"

namespace ingot {

struct GgufText {
  std::vector<int32_t> stop_ids;  // ascending
  std::string chat_template;      // empty: there is none
  std::string tokenizer;          // a file that load_tokenizer() reads
  std::string config;             // its tokenizer_config.json
};

// Without the tokenizer unless asked for; it gives the ids that llama.cpp does. Throws
// ErrorCode::Data, naming the key, for one that is not known here.
GgufText gguf_text_of(const GgufHeader& header, bool with_tokenizer);

}  // namespace ingot
