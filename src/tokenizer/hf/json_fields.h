// Members of tokenizer.json, read with errors that say where.
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
const Json& member(const Json& object, const char* name);  // null where there is none
bool flag(const Json& object, const char* name, bool otherwise, std::string_view origin);
std::string text_of(const Json& object, const char* name);  // empty: none, or no string
int32_t id_from(const Json& value, std::string_view what, std::string_view origin);

// The vocabulary {token: id} as it is spelt, by id; empty: no token. `num_ids`: of the whole file,
// added tokens too. An id far beyond is refused.
std::vector<std::string> read_spellings(const Json& vocab, size_t num_ids, std::string_view origin);
// The list of merges, in both its forms. Of the right one so many bytes are no part of the result.
std::vector<TokenMerge> read_merges(const Json& merges, const TokenIndex& index,
                                    std::string_view origin, size_t prefix_bytes = 0);
// "left right"; a token with a space in it cannot be written so.
TokenMerge merge_of_line(const std::string& line, const TokenIndex& index, std::string_view origin,
                         size_t prefix_bytes = 0);
// The added tokens, each once, which are put into `tokens`, too; those without text are left out.
// `index` is that of the vocabulary.
std::vector<AddedToken> read_added(const Json& list, size_t num_ids, const TokenIndex& index,
                                   std::vector<std::string>& tokens, std::string_view origin);

// What tokenizer.json has no place for; readers of the model skip unknown members.
inline constexpr char kOwnMember[] = "ingot";

Json own_json(BosAndEos ids);
// What that member of a file says; else those with published names; else those that the
// post-processor puts first and last.
BosAndEos bos_and_eos_of_file(const Json& tokenizer, const std::vector<AddedToken>& added,
                              size_t num_tokens, std::string_view origin);
std::string with_bos_and_eos(Json tokenizer, BosAndEos ids);  // as a file

std::string added_json(const AddedToken& token);

// Whether the file is byte-level BPE with nothing before it that we have no scanner for.
bool is_byte_level_bpe(const Json& tokenizer);
// Whether its vocabulary does, as ByteLevel spells them.
bool has_every_byte(const Json& tokenizer);
BpeModel bpe_model_from(const Json& tokenizer, std::string_view origin);  // parse_tokenizer_json()

// Refuses what no BPE here does: dropout, prefixes and suffixes of words. `model`: the file's.
void check_merging(const Json& model, std::string_view origin);

}  // namespace ingot
