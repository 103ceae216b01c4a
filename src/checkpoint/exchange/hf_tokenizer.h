// The files of a Hugging Face folder that are about text.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "checkpoint/checkpoint.h"
#include "tokenizer/bpe/model.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// Bytes as byte-level BPE that merges nothing: ids 0-255, and 256 as <|endoftext|>.
BpeModel byte_bpe_model();

// "bos_token_id" and "eos_token_id" of config.json and generation_config.json, as far as there are
// such; of several stop ids a list.
void add_token_ids(nlohmann::ordered_json& config, const Companions& companions,
                   const Tokenizer& tokenizer);

// By name, contents. As they came with the model, where they did; else tokenizer.json, its config
// and generation_config.json made from the tokenizer (llama2.c's stays the file that it is). Throws
// ErrorCode::Data for a tokenizer that the format cannot say.
std::map<std::string, std::string> hf_tokenizer_files(const Companions& companions);

}  // namespace ingot
