// Hugging Face's tokenizer.json, and GPT-2's vocab.json + merges.txt.
#include <algorithm>

#include "core/error.h"
#include "core/log.h"
#include "tokenizer/bpe/byte_alphabet.h"
#include "tokenizer/bpe/model.h"
#include "tokenizer/bpe/token_index.h"
#include "tokenizer/hf/json_fields.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/unicode/unicode_classes.h"

namespace ingot {
namespace {

std::vector<std::string> bytes_of(const std::vector<std::string>& spellings) {
  std::vector<std::string> tokens;
  tokens.reserve(spellings.size());
  for (const std::string& spelling : spellings) {
    tokens.push_back(spelt_bytes(spelling).value_or(spelling));
  }
  return tokens;
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
  check_merging(model, origin);
  check(!flag(model, "byte_fallback", false, origin), ErrorCode::Data,
        "{}: byte_fallback is not supported: expected byte-level BPE, whose bytes are tokens",
        origin);
}

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
  return bpe_model_from(parse_object(file, origin), origin);
}

BpeModel bpe_model_from(const Json& json, std::string_view origin) {
  const Json& inner = member(json, "model");
  check(inner.is_object() && member(inner, "vocab").is_object(), ErrorCode::Data,
        "{}: not a tokenizer.json: expected a model with a vocabulary", origin);
  check_model(inner, origin);
  BpeModel model;
  const size_t num_ids = inner["vocab"].size() + member(json, "added_tokens").size();
  const std::vector<std::string> spellings = read_spellings(inner["vocab"], num_ids, origin);
  const TokenIndex index(spellings);
  model.tokens = bytes_of(spellings);
  model.merges = read_merges(member(inner, "merges"), index, origin);
  model.whole_piece_first = flag(inner, "ignore_merges", false, origin);
  model.added = read_added(member(json, "added_tokens"), num_ids, index, model.tokens, origin);
  model.nfc = reads_nfc(member(json, "normalizer"), origin);
  model.split = read_split(member(json, "pre_tokenizer"), origin);
  if (const Json& post = member(json, "post_processor"); !post.is_null()) {
    model.post_processor = post.dump();
  }
  set_bos_and_eos(model, bos_and_eos_of(model.added));
  read_own(member(inner, kOwnMember), model, origin);
  return model;
}

BosAndEos bos_and_eos_in_config(std::string_view file, const std::vector<AddedToken>& added,
                                BosAndEos otherwise, std::string_view origin) {
  const Json config = parse_object(file, origin);
  const auto read = [&](const char* name, int32_t& id) {
    const auto value = config.find(name);
    if (value == config.end()) return;
    const std::string content =
        value->is_object() ? text_of(*value, "content") : text_of(config, name);
    id = -1;
    for (const AddedToken& token : added) {
      if (token.content == content) id = token.id;
    }
    check(id >= 0 || content.empty(), ErrorCode::Data,
          "{}: {} is \"{}\", which is no added token of the tokenizer", origin, name, content);
  };
  read("bos_token", otherwise.bos);
  read("eos_token", otherwise.eos);
  return otherwise;
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
  set_bos_and_eos(model, bos_and_eos_of(model.added));
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

}  // namespace

std::string to_tokenizer_json(const BpeModel& model) {
  Json own = own_json({model.bos, model.eos});
  own["unicode"] = unicode_version();
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
      kOwnMember, own.dump(), joined(vocab), joined(merges));
}

}  // namespace ingot
