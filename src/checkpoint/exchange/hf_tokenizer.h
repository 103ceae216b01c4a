// The files of a Hugging Face folder that are about text.
#pragma once

#include <map>
#include <string>

#include "checkpoint/checkpoint.h"

namespace ingot {

// By name, contents. As they came with the model, where they did; else tokenizer.json, its config
// and generation_config.json made from the tokenizer. Throws ErrorCode::Data for a tokenizer that
// the format cannot say.
std::map<std::string, std::string> hf_tokenizer_files(const Companions& companions);

}  // namespace ingot
