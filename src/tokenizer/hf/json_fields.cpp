#include "tokenizer/hf/json_fields.h"

#include <algorithm>
#include <unordered_map>

#include "core/json/json_member.h"

namespace ingot {
namespace {

// Sequences of sequences are read by recursion; no tokenizer needs a tenth of this.
constexpr int kMostNesting = 100;

bool is_deeper(const Json& json, int levels) {
  if (!json.is_structured()) return false;
  return levels == 0 || std::any_of(json.begin(), json.end(),
                                    [&](const Json& part) { return is_deeper(part, levels - 1); });
}

}  // namespace

Json parse_object(std::string_view text, std::string_view origin) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::Data, located<Json>(origin, text, error));
  }
  check(!is_deeper(json, kMostNesting), ErrorCode::Data,
        "{}: expected a tokenizer, got lists or objects more than {} deep in each other", origin,
        kMostNesting);
  check(json.is_object(), ErrorCode::Data, "{}: expected a JSON object, got {}", origin,
        json.type_name());
  return json;
}

const Json& member(const Json& object, const char* name) {
  static const Json null;
  const auto found = object.find(name);
  return found == object.end() ? null : *found;
}

bool flag(const Json& object, const char* name, bool otherwise, std::string_view origin) {
  const Json& value = member(object, name);
  check(value.is_null() || value.is_boolean(), ErrorCode::Data,
        "{}: \"{}\": expected true or false, got {}", origin, name, value.dump());
  return value.is_null() ? otherwise : value.get<bool>();
}

std::string text_of(const Json& object, const char* name) {
  const Json& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

int32_t id_from(const Json& value, std::string_view what, std::string_view origin) {
  const bool is_id =
      value.is_number_integer() && value.get<int64_t>() >= 0 && value.get<int64_t>() < INT32_MAX;
  check(is_id, ErrorCode::Data, "{}: {}: expected an id, got {}", origin, what, value.dump());
  return value.get<int32_t>();
}

namespace {

// Makes room for `id`. Ids are nearly dense in real files; one far out would cost memory.
void make_room(std::vector<std::string>& tokens, int32_t id, size_t num_ids,
               std::string_view origin) {
  check(static_cast<size_t>(id) < 4 * num_ids + 65536, ErrorCode::Data,
        "{}: id {} is far beyond the {} tokens of the file", origin, id, num_ids);
  if (tokens.size() <= static_cast<size_t>(id)) tokens.resize(id + 1);
}

}  // namespace

std::vector<std::string> read_spellings(const Json& vocab, size_t num_ids,
                                        std::string_view origin) {
  std::vector<std::string> spellings;
  for (const auto& [spelling, value] : vocab.items()) {
    const int32_t id = id_from(value, "the vocabulary", origin);
    make_room(spellings, id, num_ids, origin);
    check(spellings[id].empty(), ErrorCode::Data, "{}: two tokens have the id {}", origin, id);
    check(!spelling.empty(), ErrorCode::Data, "{}: id {} is an empty token", origin, id);
    spellings[id] = spelling;
  }
  return spellings;
}

namespace {

TokenMerge merge_of(const std::string& left, const std::string& right, const TokenIndex& index,
                    std::string_view origin, size_t prefix_bytes) {
  check(right.size() >= prefix_bytes, ErrorCode::Data,
        "{}: the merge of \"{}\" and \"{}\": expected the latter to begin with the prefix inside "
        "words",
        origin, left, right);
  const auto id = [&](const std::string& token) {
    const int32_t found = index.find(token);
    check(found != TokenIndex::kNone, ErrorCode::Data,
          "{}: the merge of \"{}\" and \"{}\" needs \"{}\", which is not in the vocabulary", origin,
          left, right, token);
    return found;
  };
  return {id(left), id(right), id(left + right.substr(prefix_bytes))};
}

}  // namespace

TokenMerge merge_of_line(const std::string& line, const TokenIndex& index, std::string_view origin,
                         size_t prefix_bytes) {
  const size_t space = line.find(' ');
  check(space != std::string::npos && line.find(' ', space + 1) == std::string::npos,
        ErrorCode::Data, "{}: expected a merge «left right», got \"{}\"", origin, line);
  return merge_of(line.substr(0, space), line.substr(space + 1), index, origin, prefix_bytes);
}

std::vector<TokenMerge> read_merges(const Json& merges, const TokenIndex& index,
                                    std::string_view origin, size_t prefix_bytes) {
  check(merges.is_array(), ErrorCode::Data, "{}: expected a list of merges", origin);
  std::vector<TokenMerge> read;
  read.reserve(merges.size());
  for (const Json& merge : merges) {
    if (merge.is_string()) {
      read.push_back(merge_of_line(merge.get<std::string>(), index, origin, prefix_bytes));
      continue;
    }
    check(merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string(),
          ErrorCode::Data, "{}: expected a merge [left, right], got {}", origin, merge.dump());
    read.push_back(merge_of(merge[0].get<std::string>(), merge[1].get<std::string>(), index, origin,
                            prefix_bytes));
  }
  return read;
}

std::vector<AddedToken> read_added(const Json& list, size_t num_ids, const TokenIndex& index,
                                   std::vector<std::string>& tokens, std::string_view origin) {
  std::vector<AddedToken> added;
  if (list.is_null()) return added;
  check(list.is_array(), ErrorCode::Data, "{}: expected a list of added tokens", origin);
  std::unordered_map<std::string, size_t> places;  // in `added`
  for (const Json& item : list) {
    check(item.is_object(), ErrorCode::Data, "{}: expected an added token, got {}", origin,
          item.dump());
    AddedToken token;
    token.content = text_of(item, "content");
    token.id = id_from(member(item, "id"), "added token \"" + token.content + "\"", origin);
    token.special = flag(item, "special", false, origin);
    token.normalized = flag(item, "normalized", !token.special, origin);
    token.lstrip = flag(item, "lstrip", false, origin);
    token.rstrip = flag(item, "rstrip", false, origin);
    token.single_word = flag(item, "single_word", false, origin);
    if (token.content.empty()) continue;
    // Of one that is listed again, Hugging Face keeps the first id and takes the last flags.
    const auto [place, is_new] = places.emplace(token.content, added.size());
    if (!is_new) {
      AddedToken& before = added[place->second];
      token.id = before.id;
      token.special |= before.special;
      before = std::move(token);
      continue;
    }
    make_room(tokens, token.id, num_ids, origin);
    const int32_t known = index.find(token.content);
    check(known == TokenIndex::kNone ? tokens[token.id].empty() : known == token.id,
          ErrorCode::Data, "{}: added token \"{}\" has id {}, the vocabulary says otherwise",
          origin, token.content, token.id);
    tokens[token.id] = token.content;
    added.push_back(std::move(token));
  }
  return added;
}

Json own_json(BosAndEos ids) {
  Json own = Json::object();
  if (ids.bos >= 0) own["bos"] = ids.bos;
  if (ids.eos >= 0) own["eos"] = ids.eos;
  return own;
}

namespace {

// Those that a post-processor puts first and last.
BosAndEos bos_and_eos_around(const Json& post_processor, const std::vector<AddedToken>& added) {
  const auto id_of = [&](const std::string& content) {
    for (const AddedToken& token : added) {
      if (token.special && token.content == content) return token.id;
    }
    return -1;
  };
  if (text_of(post_processor, "type") == "Sequence") {
    BosAndEos ids;
    for (const Json& one : member(post_processor, "processors")) {
      if (ids == BosAndEos{}) ids = bos_and_eos_around(one, added);
    }
    return ids;
  }
  const Json& single = member(post_processor, "single");
  if (single.is_array() && single.size() > 1) {
    const auto special = [&](const Json& part) {
      return id_of(text_of(member(part, "SpecialToken"), "id"));
    };
    return {special(single.front()), special(single.back())};
  }
  const auto named = [&](const char* name) {
    const Json& pair = member(post_processor, name);
    const bool is_pair = pair.is_array() && !pair.empty() && pair[0].is_string();
    return is_pair ? id_of(pair[0].get<std::string>()) : -1;
  };
  return {named("cls"), named("sep")};
}

}  // namespace

BosAndEos bos_and_eos_of_file(const Json& tokenizer, const std::vector<AddedToken>& added,
                              size_t num_tokens, std::string_view origin) {
  const Json& own = member(member(tokenizer, "model"), kOwnMember);
  if (!own.is_object()) {
    const BosAndEos named = bos_and_eos_of(added);
    return named == BosAndEos{} ? bos_and_eos_around(member(tokenizer, "post_processor"), added)
                                : named;
  }
  const auto id = [&](const char* name) {
    const int32_t read = own.contains(name) ? id_from(own[name], name, origin) : -1;
    check(read < static_cast<int32_t>(num_tokens), ErrorCode::Data,
          "{}: {} is {}, which is no token", origin, name, read);
    return read;
  };
  return {id("bos"), id("eos")};
}

std::string with_bos_and_eos(Json tokenizer, BosAndEos ids) {
  tokenizer["model"][kOwnMember] = own_json(ids);
  return tokenizer.dump() + "\n";
}

std::string added_json(const AddedToken& token) {
  return Json({{"id", token.id},
               {"content", token.content},
               {"single_word", token.single_word},
               {"lstrip", token.lstrip},
               {"rstrip", token.rstrip},
               {"normalized", token.normalized},
               {"special", token.special}})
      .dump();
}

void check_merging(const Json& model, std::string_view origin) {
  const Json& dropout = member(model, "dropout");
  check(dropout.is_null() || dropout == 0.0, ErrorCode::Data,
        "{}: dropout is {}: expected none, ids must not be left to chance", origin, dropout.dump());
  for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    check(text_of(model, affix).empty(), ErrorCode::Data, "{}: \"{}\" is not supported", origin,
          affix);
  }
}

}  // namespace ingot
