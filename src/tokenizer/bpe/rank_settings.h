// The settings that a rank file lacks, in a file beside it: NAME.toml beside NAME.tiktoken.
//
//   split = "llama3"              # the pattern that splits text
//   bos = "<|begin_of_text|>"     # without bos and eos: found by the published names
//   eos = "<|end_of_text|>"
//   [special_tokens]              # without it: the special tokens of that pattern
//   "<|begin_of_text|>" = 128000
//   "<|end_of_text|>" = 128001
#pragma once

#include <string>
#include <string_view>

#include "tokenizer/bpe/model.h"

namespace ingot {

std::string rank_settings_path(std::string_view rank_file);  // with extension .toml

// Sets pattern, special tokens, BOS and EOS of a model that has only ranks. Throws
// ErrorCode::Config naming an unknown or invalid key.
void apply_rank_settings(std::string_view toml, std::string_view origin, BpeModel& model);

std::string to_rank_settings(const BpeModel& model);  // reads back as the same

}  // namespace ingot
