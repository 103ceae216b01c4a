// What a rank file leaves unsaid, in a file beside it: NAME.toml beside NAME.tiktoken.
//
//   split = "llama3"              # whose pattern cuts text
//   bos = "<|begin_of_text|>"     # without bos and eos: by the published names
//   eos = "<|end_of_text|>"
//   [special_tokens]              # without it: those that come with the pattern's name
//   "<|begin_of_text|>" = 128000
//   "<|end_of_text|>" = 128001
#pragma once

#include <string>
#include <string_view>

#include "tokenizer/bpe/model.h"

namespace ingot {

std::string rank_settings_path(std::string_view rank_file);  // its ending, if any, becomes .toml

// Sets pattern, special tokens, BOS and EOS of a model that has ranks alone. Throws
// ErrorCode::Config naming the key that is unknown or wrong.
void apply_rank_settings(std::string_view toml, std::string_view origin, BpeModel& model);

std::string to_rank_settings(const BpeModel& model);  // reads back as the same

}  // namespace ingot
