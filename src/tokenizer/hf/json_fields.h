// Reads members of tokenizer.json with errors that name the place.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/added_tokens.h"
#include "tokenizer/bpe/model.h"
#include "tokenizer/bpe/token_index.h"
#include "tokenizer/special_tokens.h"

namespace ingot {

using Json = nlohmann::json;

Json parse_object(std::string_view text, std::string_view origin);
const Json& member(const Json& object, const char* name);  // null if absent
bool flag(const Json& object, const char* name, bool otherwise, std::string_view origin);
std::string text_of(const Json& object, const char* name);  // empty: absent, or not a string
int32_t id_from(const Json& value, std::string_view what, std::string_view origin);

// The vocabulary {token: id} as spelt in the file, by id; empty: unused id. `num_ids`: of the whole
// file including added tokens. An id far beyond that is rejected.
std::vector<std::string> read_spellings(const Json& vocab, size_t num_ids, std::string_view origin);
// The list of merges, in either form. The first `prefix_bytes` of the right token are dropped in
// the result.
std::vector<TokenMerge> read_merges(const Json& merges, const TokenIndex& index,
                                    std::string_view origin, size_t prefix_bytes = 0);
// Parses "left right"; this form cannot express tokens with a space.
TokenMerge merge_of_line(const std::string& line, const TokenIndex& index, std::string_view origin,
                         size_t prefix_bytes = 0);
// The added tokens without repetition, also written to `tokens`; skips empty ones. `index` is the
// vocabulary's.
std::vector<AddedToken> read_added(const Json& list, size_t num_ids, const TokenIndex& index,
                                   std::vector<std::string>& tokens, std::string_view origin);

// Data that tokenizer.json has no place for; readers of the file skip unknown members.
inline constexpr char kOwnMember[] = "ingot";

Json own_json(BosAndEos ids);
// BOS and EOS from that member; else by published names; else from the post-processor's template.
BosAndEos bos_and_eos_of_file(const Json& tokenizer, const std::vector<AddedToken>& added,
                              size_t num_tokens, std::string_view origin);
std::string with_bos_and_eos(Json tokenizer, BosAndEos ids);  // as a file

std::string added_json(const AddedToken& token);

// Whether the file is byte-level BPE whose pre-processing we have scanners for.
bool is_byte_level_bpe(const Json& tokenizer);
// Whether its vocabulary contains all bytes, as ByteLevel spells them.
bool has_every_byte(const Json& tokenizer);
BpeModel bpe_model_from(const Json& tokenizer, std::string_view origin);  // parse_tokenizer_json()

// Rejects BPE options that are not supported: dropout, word prefixes and suffixes. `model`: the
// file's.
void check_merging(const Json& model, std::string_view origin);

}  // namespace ingot
