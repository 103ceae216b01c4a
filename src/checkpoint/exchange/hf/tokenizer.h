// The text-related files of a Hugging Face folder.
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

// Files of a tokenizer and its chat template; by name, contents of those in a folder.
bool is_hf_tokenizer_file(std::string_view name);
std::map<std::string, std::string> tokenizer_files_in(Storage& storage, const std::string& folder);

// The tokenizer of a model's folder. Throws ErrorCode::Data with advice if it has none.
std::unique_ptr<Tokenizer> own_hf_tokenizer(Storage& storage, const std::string& folder);
// The tokenizer at `given`, for the model. If the folder has another one, its files are removed
// from auxiliary_files.hf_files, with a warning, and replaced by the given one's.
std::unique_ptr<Tokenizer> given_hf_tokenizer(Storage& storage, const std::string& folder,
                                              const std::string& given,
                                              AuxiliaryFiles& auxiliary_files);

// Of a model that is trained with the tokenizer at `given`: the chat template beside it, with the
// special tokens that it names, and the stop ids that config.json and generation_config.json there
// say. A text begins as documents are trained on, whatever the files say of other models. Nothing
// for `byte`.
void add_chat_files(Storage& storage, const std::string& given, const Tokenizer& tokenizer,
                    int64_t vocab, AuxiliaryFiles& auxiliary_files);

// Bytes as byte-level BPE without merges: ids 0-255, and 256 as <|endoftext|>.
BpeModel byte_bpe_model();

// Sets "bos_token_id" and "eos_token_id" of config.json and generation_config.json, if they exist;
// several stop ids become a list.
void add_token_ids(nlohmann::ordered_json& config, const AuxiliaryFiles& auxiliary_files,
                   const Tokenizer& tokenizer);

// Contents by name: the model's own files if it came with some; else tokenizer.json, its config and
// generation_config.json made from the tokenizer (llama2.c's stays its own file). Throws
// ErrorCode::Data for a tokenizer that the format cannot express.
std::map<std::string, std::string> hf_tokenizer_files(const AuxiliaryFiles& auxiliary_files);

}  // namespace ingot
