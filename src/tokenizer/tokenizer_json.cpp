// Hugging Face's tokenizer.json, and GPT-2's vocab.json + merges.txt.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/log.h"
#include "tokenizer/bpe_model.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/token_index.h"
#include "tokenizer/unicode_classes.h"

namespace ingot {
namespace {

using Json = nlohmann::json;

Json parse_object(std::string_view text, std::string_view origin) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  check(json.is_object(), ErrorCode::Data, "{}: not a tokenizer: expected a JSON object", origin);
  return json;
}

// Optional members: absent and null are the same.
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

std::string text_of(const Json& object, const char* name) {  // empty: none, or no string
  const Json& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

int32_t id_from(const Json& value, std::string_view what, std::string_view origin) {
  const bool is_id =
      value.is_number_integer() && value.get<int64_t>() >= 0 && value.get<int64_t>() < INT32_MAX;
  check(is_id, ErrorCode::Data, "{}: {}: expected an id, got {}", origin, what, value.dump());
  return value.get<int32_t>();
}

// Makes room for `id`. Ids are nearly dense in real files; one far out would cost memory.
void make_room(std::vector<std::string>& tokens, int32_t id, size_t num_ids,
               std::string_view origin) {
  check(static_cast<size_t>(id) < 4 * num_ids + 65536, ErrorCode::Data,
        "{}: id {} is far beyond the {} tokens of the file", origin, id, num_ids);
  if (tokens.size() <= static_cast<size_t>(id)) tokens.resize(id + 1);
}

// The vocabulary as it is spelt, by id.
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

std::vector<std::string> bytes_of(const std::vector<std::string>& spellings) {
  std::vector<std::string> tokens;
  tokens.reserve(spellings.size());
  for (const std::string& spelling : spellings) {
    tokens.push_back(spelt_bytes(spelling).value_or(spelling));
  }
  return tokens;
}

TokenMerge merge_of(const std::string& left, const std::string& right, const TokenIndex& index,
                    std::string_view origin) {
  const auto id = [&](const std::string& token) {
    const int32_t found = index.find(token);
    check(found != TokenIndex::kNone, ErrorCode::Data,
          "{}: the merge of \"{}\" and \"{}\" needs \"{}\", which is not in the vocabulary", origin,
          left, right, token);
    return found;
  };
  return {id(left), id(right), id(left + right)};
}

// "left right"; a token with a space in it cannot be written so.
TokenMerge merge_of_line(const std::string& line, const TokenIndex& index,
                         std::string_view origin) {
  const size_t space = line.find(' ');
  check(space != std::string::npos && line.find(' ', space + 1) == std::string::npos,
        ErrorCode::Data, "{}: expected a merge «left right», got \"{}\"", origin, line);
  return merge_of(line.substr(0, space), line.substr(space + 1), index, origin);
}

void read_merges(const Json& merges, const TokenIndex& index, BpeModel& model,
                 std::string_view origin) {
  check(merges.is_array(), ErrorCode::Data, "{}: expected a list of merges", origin);
  for (const Json& merge : merges) {
    if (merge.is_string()) {
      model.merges.push_back(merge_of_line(merge.get<std::string>(), index, origin));
      continue;
    }
    check(merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string(),
          ErrorCode::Data, "{}: expected a merge [left, right], got {}", origin, merge.dump());
    model.merges.push_back(
        merge_of(merge[0].get<std::string>(), merge[1].get<std::string>(), index, origin));
  }
}

void read_added(const Json& list, size_t num_ids, const TokenIndex& index, BpeModel& model,
                std::string_view origin) {
  if (list.is_null()) return;
  check(list.is_array(), ErrorCode::Data, "{}: expected a list of added tokens", origin);
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
    make_room(model.tokens, token.id, num_ids, origin);
    const int32_t known = index.find(token.content);
    check(known == TokenIndex::kNone ? model.tokens[token.id].empty() : known == token.id,
          ErrorCode::Data, "{}: added token \"{}\" has id {}, the vocabulary says otherwise",
          origin, token.content, token.id);
    model.tokens[token.id] = token.content;
    model.added.push_back(std::move(token));
  }
}

bool reads_nfc(const Json& normalizer, std::string_view origin) {
  if (normalizer.is_null()) return false;
  const std::string type = text_of(normalizer, "type");
  if (type == "NFC") return true;
  const Json& parts = member(normalizer, "normalizers");
  check(type == "Sequence" && parts.is_array(), ErrorCode::Data,
        "{}: normalizer \"{}\" is not supported: expected none or NFC", origin, type);
  bool nfc = false;
  for (const Json& part : parts) nfc |= reads_nfc(part, origin);
  return nfc;
}

void check_byte_level(const Json& part, std::string_view origin) {
  check(text_of(part, "type") == "ByteLevel" && !flag(part, "add_prefix_space", true, origin),
        ErrorCode::Data,
        "{}: pre-tokenizer {} is not supported: expected ByteLevel without add_prefix_space, or a "
        "Split before it",
        origin, part.dump());
}

Split split_from_regex(const Json& part, std::string_view origin) {
  const std::string regex = text_of(member(part, "pattern"), "Regex");
  const auto split = split_of_pattern(regex);
  check(
      split.has_value(), ErrorCode::Data,
      "{}: the pattern \"{}\" is not one we know: expected that of GPT-2, cl100k, Llama 3, Qwen 2, "
      "o200k or nanochat",
      origin, regex);
  const std::string behavior = text_of(part, "behavior");
  const bool invert = flag(part, "invert", false, origin);
  check(behavior == (invert ? "Removed" : "Isolated"), ErrorCode::Data,
        "{}: a Split that is {}{} is not supported: expected Isolated, or Removed and inverted",
        origin, behavior, invert ? " and inverted" : "");
  return *split;
}

Split read_split(const Json& pre_tokenizer, std::string_view origin) {
  if (text_of(pre_tokenizer, "type") != "Sequence") {
    check_byte_level(pre_tokenizer, origin);
    return flag(pre_tokenizer, "use_regex", true, origin) ? Split::Gpt2 : Split::None;
  }
  const Json& parts = member(pre_tokenizer, "pretokenizers");
  const bool split_then_bytes = parts.is_array() && parts.size() == 2 &&
                                text_of(parts[0], "type") == "Split" &&
                                !flag(parts[1], "use_regex", true, origin);
  check(split_then_bytes, ErrorCode::Data,
        "{}: pre-tokenizer {} is not supported: expected a Split and ByteLevel without use_regex",
        origin, pre_tokenizer.dump());
  check_byte_level(parts[1], origin);
  return split_from_regex(parts[0], origin);
}

void check_model(const Json& model, std::string_view origin) {
  const std::string type = text_of(model, "type");
  check(type.empty() || type == "BPE", ErrorCode::Data,
        "{}: a model of type \"{}\": expected byte-level BPE", origin, type);
  const Json& dropout = member(model, "dropout");
  check(dropout.is_null() || dropout == 0.0, ErrorCode::Data,
        "{}: dropout is {}: expected none, ids must not be left to chance", origin, dropout.dump());
  for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    check(text_of(model, affix).empty(), ErrorCode::Data, "{}: \"{}\" is not supported", origin,
          affix);
  }
  check(!flag(model, "byte_fallback", false, origin), ErrorCode::Data,
        "{}: byte_fallback is not supported: expected byte-level BPE, whose bytes are tokens",
        origin);
}

// What tokenizer.json has no place for; readers of the model skip unknown members.
constexpr const char* kOwnMember = "ingot";

void read_own(const Json& own, BpeModel& model, std::string_view origin) {
  if (!own.is_object()) return;
  if (own.contains("bos")) model.bos = id_from(own["bos"], "BOS", origin);
  if (own.contains("eos")) model.eos = id_from(own["eos"], "EOS", origin);
  if (const std::string version = text_of(own, "unicode"); version != unicode_version()) {
    log::warn("tokenizer_unicode", {{"file", std::string(origin)},
                                    {"made_with", version},
                                    {"here", std::string(unicode_version())}});
  }
}

}  // namespace

BpeModel parse_tokenizer_json(std::string_view file, std::string_view origin) {
  const Json json = parse_object(file, origin);
  const Json& inner = member(json, "model");
  check(inner.is_object() && member(inner, "vocab").is_object(), ErrorCode::Data,
        "{}: not a tokenizer.json: expected a model with a vocabulary", origin);
  check_model(inner, origin);
  BpeModel model;
  const size_t num_ids = inner["vocab"].size() + member(json, "added_tokens").size();
  const std::vector<std::string> spellings = read_spellings(inner["vocab"], num_ids, origin);
  const TokenIndex index(spellings);
  model.tokens = bytes_of(spellings);
  read_merges(member(inner, "merges"), index, model, origin);
  model.whole_piece_first = flag(inner, "ignore_merges", false, origin);
  read_added(member(json, "added_tokens"), num_ids, index, model, origin);
  model.nfc = reads_nfc(member(json, "normalizer"), origin);
  model.split = read_split(member(json, "pre_tokenizer"), origin);
  if (const Json& post = member(json, "post_processor"); !post.is_null()) {
    model.post_processor = post.dump();
  }
  name_bos_and_eos(model);
  read_own(member(inner, kOwnMember), model, origin);
  return model;
}

void apply_tokenizer_config(std::string_view file, BpeModel& model, std::string_view origin) {
  const Json config = parse_object(file, origin);
  const auto set = [&](const char* name, int32_t& id) {
    const auto value = config.find(name);
    if (value == config.end()) return;
    const std::string content =
        value->is_object() ? text_of(*value, "content") : text_of(config, name);
    id = -1;
    for (const AddedToken& added : model.added) {
      if (added.content == content) id = added.id;
    }
    check(id >= 0 || content.empty(), ErrorCode::Data,
          "{}: {} is \"{}\", which is no added token of the tokenizer", origin, name, content);
  };
  set("bos_token", model.bos);
  set("eos_token", model.eos);
}

BpeModel parse_vocab_and_merges(std::string_view vocab_json, std::string_view merges_txt,
                                std::string_view origin) {
  BpeModel model;
  const Json vocab = parse_object(vocab_json, origin);
  const std::vector<std::string> spellings = read_spellings(vocab, vocab.size(), origin);
  const TokenIndex index(spellings);
  model.tokens = bytes_of(spellings);
  for (size_t begin = 0; begin < merges_txt.size();) {
    const size_t end = std::min(merges_txt.find('\n', begin), merges_txt.size());
    std::string line(merges_txt.substr(begin, end - begin));
    if (line.ends_with('\r')) line.pop_back();
    const bool is_header = begin == 0 && line.starts_with("#version");
    if (!is_header && !line.empty()) model.merges.push_back(merge_of_line(line, index, origin));
    begin = end + 1;
  }
  constexpr std::string_view kEnd = "<|endoftext|>";
  if (const int32_t end = index.find(kEnd); end != TokenIndex::kNone) {
    AddedToken token;
    token.content = kEnd;
    token.id = end;
    token.special = true;
    model.added.push_back(std::move(token));
  }
  name_bos_and_eos(model);
  return model;
}

namespace {

std::string quoted(const std::string& text) {
  return Json(text).dump();
}

// An added token is in the vocabulary under its own text; all others under the spelling of bytes.
std::vector<std::string> spellings_of(const BpeModel& model) {
  std::vector<std::string> spellings;
  for (const std::string& token : model.tokens) spellings.push_back(spell_bytes(token));
  for (const AddedToken& added : model.added) spellings[added.id] = added.content;
  return spellings;
}

std::string joined(const std::vector<std::string>& items) {
  return fmt::format("{}", fmt::join(items, ","));
}

std::string pre_tokenizer_json(Split split) {
  const Json byte_level = {{"type", "ByteLevel"},
                           {"add_prefix_space", false},
                           {"trim_offsets", true},
                           {"use_regex", split == Split::Gpt2}};
  if (split == Split::Gpt2 || split == Split::None) return byte_level.dump();
  const Json regex = {{"type", "Split"},
                      {"pattern", {{"Regex", pattern_of(split)}}},
                      {"behavior", "Isolated"},
                      {"invert", false}};
  return Json({{"type", "Sequence"}, {"pretokenizers", {regex, byte_level}}}).dump();
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

Json own_json(const BpeModel& model) {
  Json own = {{"unicode", unicode_version()}};
  if (model.bos >= 0) own["bos"] = model.bos;
  if (model.eos >= 0) own["eos"] = model.eos;
  return own;
}

}  // namespace

std::string to_tokenizer_json(const BpeModel& model) {
  const std::vector<std::string> spellings = spellings_of(model);
  std::vector<std::string> vocab, merges, added;
  for (size_t id = 0; id < spellings.size(); ++id) {
    if (!spellings[id].empty()) vocab.push_back(fmt::format("{}:{}", quoted(spellings[id]), id));
  }
  for (const TokenMerge& merge : model.merges) {
    merges.push_back(
        fmt::format("[{},{}]", quoted(spellings[merge.left]), quoted(spellings[merge.right])));
  }
  std::vector<AddedToken> by_id = model.added;
  std::sort(by_id.begin(), by_id.end(),
            [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  for (const AddedToken& token : by_id) added.push_back(added_json(token));
  return fmt::format(
      "{{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\n\"added_tokens\":[{}],\n"
      "\"normalizer\":{},\n\"pre_tokenizer\":{},\n\"post_processor\":{},\n"
      "\"decoder\":{{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,"
      "\"use_regex\":true}},\n"
      "\"model\":{{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,"
      "\"continuing_subword_prefix\":null,\"end_of_word_suffix\":null,\"fuse_unk\":false,"
      "\"byte_fallback\":false,\"ignore_merges\":{},\"{}\":{},\n"
      "\"vocab\":{{{}}},\n\"merges\":[{}]}}}}\n",
      joined(added), model.nfc ? "{\"type\":\"NFC\"}" : "null", pre_tokenizer_json(model.split),
      model.post_processor.empty() ? "null" : model.post_processor, model.whole_piece_first,
      kOwnMember, own_json(model).dump(), joined(vocab), joined(merges));
}

}  // namespace ingot
