// Special tokens that the files of a model name: its stop ids, which may be several, of which its
// tokenizer knows one as EOS; and those around a text.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

inline constexpr std::string_view kHfGenerationName = "generation_config.json";

// "eos_token_id" of generation_config.json and config.json, an id or a list: the union, ascending.
// `files`: contents by name, of the folder `dir`. Throws ErrorCode::Data with file, line and member
// for other values, and if generation_config.json is not a JSON object. Ids outside the vocabulary
// of `vocab` tokens are dropped with a warning.
std::vector<int32_t> hf_stop_ids(const std::map<std::string, std::string>& files, int64_t vocab,
                                 const std::string& dir);

// The tokenizer's EOS, if any, followed by the model's other stop ids.
std::vector<int32_t> stop_ids_of(const AuxiliaryFiles& auxiliary_files, const Tokenizer& tokenizer);

// Which special tokens stand around a text that the model is given.
struct TextEnds {
  bool bos = false, eos = false;
};

// As the files that came with the model say: add_bos_token and add_eos_token of
// tokenizer_config.json, else the template of tokenizer.json. Without such files as documents are
// trained on: BOS, if the tokenizer has one.
TextEnds text_ends_of(const AuxiliaryFiles& auxiliary_files, const Tokenizer& tokenizer);

}  // namespace ingot
