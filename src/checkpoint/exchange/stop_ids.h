// The ids that end a text: a model may have several, of which its tokenizer knows one as EOS.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

inline constexpr std::string_view kHfGenerationName = "generation_config.json";

// "eos_token_id" of generation_config.json and config.json, an id or a list of them: all of both,
// ascending, each once. `files`: by name, of the folder `dir`. Throws ErrorCode::Data, naming file,
// line and member, for what is neither, and for a generation_config.json that is no JSON object.
// Ids that a model of `vocab` tokens does not have are left out with a warning.
std::vector<int32_t> hf_stop_ids(const std::map<std::string, std::string>& files, int64_t vocab,
                                 const std::string& dir);

// The tokenizer's EOS, where it has one, and then the model's others.
std::vector<int32_t> stop_ids_of(const Companions& companions, const Tokenizer& tokenizer);

}  // namespace ingot
