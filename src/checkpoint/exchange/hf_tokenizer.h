// The files of a Hugging Face folder that are about text.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "checkpoint/checkpoint.h"
#include "tokenizer/bpe/model.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// Files of a tokenizer and its chat template; by name, contents of those that a folder has.
bool is_hf_tokenizer_file(std::string_view name);
std::map<std::string, std::string> tokenizer_files_in(Storage& storage, const std::string& folder);

// The tokenizer of a model's folder. Throws ErrorCode::Data, saying what to do, where it has none.
std::unique_ptr<Tokenizer> own_hf_tokenizer(Storage& storage, const std::string& folder);
// The one at `given`, which the model is to have. Where the folder has another, the files that make
// that up leave companions.hf_files, with a warning, and those of the given one take their place.
std::unique_ptr<Tokenizer> given_hf_tokenizer(Storage& storage, const std::string& folder,
                                              const std::string& given, Companions& companions);

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
