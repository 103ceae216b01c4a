// What files leave unsaid and everybody knows: pattern and specials of OpenAI's encodings, and
// which tokens begin and end a text.
#pragma once

#include <string_view>

#include "tokenizer/bpe_model.h"

namespace ingot {

// Sets the pattern and adds the special tokens of a published encoding ("cl100k_base"); false, and
// nothing done, when the name is not one.
bool apply_encoding(std::string_view name, BpeModel& model);

// Sets bos and eos by the published names among the special tokens. Where a tokenizer has one
// separator only, it is both.
void name_bos_and_eos(BpeModel& model);

// Sets bos and eos to what tokenizer_config.json, the file beside tokenizer.json, says of them.
void apply_tokenizer_config(std::string_view file, BpeModel& model, std::string_view origin);

}  // namespace ingot
