// Special tokens that a model's files name: its stop ids, one of which is the tokenizer's EOS, and
// the tokens before and after a text.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

inline constexpr std::string_view kHfGenerationName = "generation_config.json";

// "eos_token_id" of a JSON object: an id or a list; empty if it is missing or null. Throws
// MemberError.
std::vector<int32_t> eos_ids_in(const nlohmann::json& config);

// The stop ids in one file.
struct FileStopIds {
  std::string path;
  std::vector<int32_t> ids;
};
// Reads a generation_config.json. Throws ErrorCode::Data with file, line and member for other
// values, and if the text is not a JSON object.
FileStopIds read_stop_ids(std::string_view text, const std::string& path);

// The union, ascending. Ids outside the vocabulary of `vocab` tokens are dropped with a warning.
std::vector<int32_t> merged_stop_ids(const std::vector<FileStopIds>& files, int64_t vocab);

// The stop ids in generation_config.json and config.json of `files` (contents by name), which are
// from the folder `dir`. Throws like read_stop_ids().
std::vector<int32_t> hf_stop_ids(const std::map<std::string, std::string>& files, int64_t vocab,
                                 const std::string& dir);

// The tokenizer's EOS, if any, followed by the model's other stop ids.
std::vector<int32_t> stop_ids_of(const AuxiliaryFiles& auxiliary_files, const Tokenizer& tokenizer);

// Which special tokens surround a text that the model is given.
struct TextEnds {
  bool bos = false, eos = false;
};

// As the model's files say: add_bos_token and add_eos_token of tokenizer_config.json, else
// the template of tokenizer.json. Without such files BOS if the tokenizer has one, as in
// training.
TextEnds text_ends_of(const AuxiliaryFiles& auxiliary_files, const Tokenizer& tokenizer);

}  // namespace ingot
