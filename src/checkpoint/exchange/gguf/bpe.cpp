#include <fmt/ranges.h>

#include <algorithm>

#include "checkpoint/exchange/gguf/tokens.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "tokenizer/bpe/byte_alphabet.h"
#include "tokenizer/hf/json_fields.h"
#include "tokenizer/replace_all.h"

namespace ingot {
namespace {

// llama.cpp's names of patterns. Whether a piece that is a token is taken whole goes with the name.
struct Pre {
  Split split;
  bool whole_piece_first;
  std::string_view name;
};
constexpr Pre kPres[] = {
    {Split::Gpt2, false, "gpt-2"},
    {Split::Llama3, true, "llama-bpe"},
    {Split::Llama3, false, "dbrx"},
    {Split::Qwen2, false, "qwen2"},
    // "gpt-4o" cuts before combining marks, which o200k counts as letters.
    {Split::O200k, true, "granite-embed-multi-97m"},
};

// Names that cut alike.
constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"phi-2", "gpt-2"},        {"olmo", "gpt-2"},
    {"mpt", "gpt-2"},          {"llama3", "llama-bpe"},
    {"llama-v3", "llama-bpe"}, {"falcon3", "llama-bpe"},
    {"pixtral", "llama-bpe"},  {"lfm2", "llama-bpe"},
    {"smaug-bpe", "dbrx"},     {"deepseek-r1-qwen", "qwen2"},
    {"megrez", "qwen2"},       {"starcoder", "smollm"},
    {"refact", "smollm"},      {"codeshell", "smollm"}};

void warn(const std::string& why) {
  log::warn("gguf_tokenizer", {{"why", why}});
}

// Whether merging makes every token of its own bytes, so that to look for whole pieces first
// changes nothing.
bool merging_makes_all(BpeModel model) {
  model.whole_piece_first = false;
  model.split = Split::None;
  model.nfc = false;
  std::vector<bool> added(model.tokens.size());
  for (AddedToken& token : model.added) {
    added[static_cast<size_t>(token.id)] = true;
    token.special = true;  // so that it is text
  }
  const std::vector<std::string> tokens = model.tokens;
  const auto tokenizer = bpe_tokenizer(std::move(model), "the tokenizer");
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (added[id] || tokens[id].empty()) continue;
    if (tokenizer->encode(tokens[id]) != std::vector<int32_t>{static_cast<int32_t>(id)})
      return false;
  }
  return true;
}

// cl100k's pattern is Llama 3's, but for white space that ends a text: it stays one piece there. A
// cut after its last line end changes nothing where no token reaches across.
bool may_cut_after_lines(const BpeModel& model) {
  constexpr char kLineEnds[] = "\r\n";
  return std::ranges::none_of(model.tokens, [&](const std::string& token) {
    const size_t line_end = token.find_last_of(kLineEnds);
    return line_end != std::string::npos && line_end + 1 < token.size();
  });
}

// Files spell line ends and quotes in different ways.
std::string plain_regex(std::string regex) {
  replace_all(regex, "\r", "\\r");
  replace_all(regex, "\n", "\\n");
  replace_all(regex, "\\\"", "\"");
  return regex;
}

// A pre-tokenizer of tokenizer.json in a word; empty: no part of one that llama.cpp has.
std::string word_of(const Json& part) {
  const std::string type = text_of(part, "type");
  if (type == "Digits" && member(part, "individual_digits") == true) return "digits";
  if (type == "ByteLevel" && member(part, "add_prefix_space") == false)
    return member(part, "use_regex") == false ? "bytes" : "gpt-2";
  if (type == "Split" && text_of(part, "behavior") == "Isolated" && member(part, "invert") != true)
    return plain_regex(text_of(member(part, "pattern"), "Regex"));
  return "";
}

// The other way round.
Json part_of(std::string_view word) {
  if (word == "digits") return {{"type", "Digits"}, {"individual_digits", true}};
  if (word == "bytes" || word == "gpt-2")
    return {{"type", "ByteLevel"},
            {"add_prefix_space", false},
            {"trim_offsets", true},
            {"use_regex", word == "gpt-2"}};
  return {{"type", "Split"},
          {"pattern", {{"Regex", std::string(word)}}},
          {"behavior", "Isolated"},
          {"invert", false}};
}

struct Arrangement {
  std::string_view name;
  std::vector<std::string_view> words;
};
const std::vector<Arrangement>& arrangements() {
  static const std::vector<Arrangement> all = {
      {"smollm", {"digits", "gpt-2"}},  // StarCoder's, too
      {"deepseek-coder",
       {"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+",
        "digits", "bytes"}},
      {"deepseek-v3",
       {"\\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?"
        "[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
        "bytes"}},
  };
  return all;
}

}  // namespace

std::string_view gguf_pre_of(const BpeModel& model) {
  if (model.merges.empty() && !model.whole_piece_first) return "gpt-2";  // wherever it is cut
  if (model.split == Split::O200k)
    warn(
        "llama.cpp tells capitals from small letters within ASCII only: words such as ÉCOLE may "
        "get other ids there");
  const Split split =
      model.split == Split::Cl100k && may_cut_after_lines(model) ? Split::Llama3 : model.split;
  for (const Pre& pre : kPres)
    if (pre.split == split && pre.whole_piece_first == model.whole_piece_first) return pre.name;
  for (const Pre& pre : kPres)
    if (pre.split == split && merging_makes_all(model)) return pre.name;
  throw Error(ErrorCode::Data,
              fmt::format("llama.cpp does not cut text by the pattern {}{}: the tokenizer would "
                          "give other ids there; use --to hf",
                          name_of(model.split),
                          model.whole_piece_first ? " and take pieces that are tokens whole" : ""));
}

std::string_view gguf_pre_of(std::string_view tokenizer_json, BpeModel& model) {
  Json json = parse_object(tokenizer_json, "the tokenizer");
  std::vector<std::string> words;
  const Json pre_tokenizer = member(json, "pre_tokenizer");
  if (text_of(pre_tokenizer, "type") == "Sequence")
    for (const Json& part : member(pre_tokenizer, "pretokenizers")) words.push_back(word_of(part));
  const auto found = std::ranges::find_if(arrangements(), [&](const Arrangement& known) {
    return std::ranges::equal(known.words, words);
  });
  // With a pattern that we know, the rest of the file is read as any byte-level BPE.
  json["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  const bool known = found != arrangements().end() && is_byte_level_bpe(json);
  if (known) model = bpe_model_from(json, "the tokenizer");
  check(known && (!model.whole_piece_first || merging_makes_all(model)), ErrorCode::Data,
        "llama.cpp has nothing like this tokenizer's arrangement of normalizer, pre-tokenizer and "
        "model: it would give other ids there; use --to hf");
  return found->name;
}

GgufPre gguf_pre_named(std::string_view given) {
  std::string_view name = given;
  for (const auto& [alias, known] : kAliases)
    if (alias == given) name = known;
  for (const Pre& pre : kPres)
    if (pre.name == name)
      return {pre.split, pre.whole_piece_first, /*adds_bos=*/pre.name == "llama-bpe", {}};
  for (const Arrangement& known : arrangements())
    if (known.name == name) return {.words = known.words};
  std::vector<std::string_view> names;
  for (const Pre& pre : kPres) names.push_back(pre.name);
  for (const Arrangement& known : arrangements()) names.push_back(known.name);
  throw Error(ErrorCode::Data,
              fmt::format("tokenizer.ggml.pre: expected one of {}, got {}", fmt::join(names, ", "),
                          given.empty() ? "none" : given.substr(0, 100)));
}

std::string with_gguf_pre_tokenizer(std::string_view tokenizer_json, const GgufPre& pre) {
  Json json = parse_object(tokenizer_json, "the tokenizer");
  Json parts = Json::array();
  for (const std::string_view word : pre.words) parts.push_back(part_of(word));
  json["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", parts}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void add_gguf_bpe(GgufMetadata& metadata, const BpeModel& model, std::string_view pre,
                  int64_t vocab) {
  GgufTokens tokens;
  for (size_t id = 0; id < model.tokens.size(); ++id) {
    const std::string& token = model.tokens[id];
    if (token.empty())
      tokens.add(fmt::format("[PAD{}]", id), PieceType::Unused);
    else
      tokens.add(spell_bytes(token), PieceType::Normal);
  }
  for (const AddedToken& added : model.added) {
    check(added.special || !(added.lstrip || added.rstrip || added.single_word), ErrorCode::Data,
          "the added token «{}» takes spaces around it or stands between words only, which GGUF "
          "cannot say; use --to hf",
          added.content);
    const auto id = static_cast<size_t>(added.id);
    tokens.texts[id] = added.content;
    tokens.types[id] =
        static_cast<int32_t>(added.special ? PieceType::Control : PieceType::UserDefined);
  }
  std::vector<std::string> merges;
  for (const TokenMerge& merge : model.merges)
    merges.push_back(spell_bytes(model.tokens[merge.left]) + " " +
                     spell_bytes(model.tokens[merge.right]));
  metadata.add("tokenizer.ggml.model", "gpt2");
  metadata.add("tokenizer.ggml.pre", pre);
  tokens.write(metadata, vocab);
  metadata.add("tokenizer.ggml.merges", merges);
  if (model.nfc)
    warn(
        "llama.cpp does not bring text to NFC as this tokenizer does: other text than NFC gets "
        "other ids there");
}

}  // namespace ingot
