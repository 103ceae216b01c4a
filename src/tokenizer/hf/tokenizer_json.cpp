// Hugging Face's tokenizer.json, and GPT-2's vocab.json + merges.txt.
#include <algorithm>
#include <optional>

#include "core/error/error.h"
#include "core/error/log.h"
#include "core/json/json_member.h"
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

// Whether text is brought to NFC; nothing: it is changed in other ways.
std::optional<bool> nfc_of(const Json& normalizer) {
  if (normalizer.is_null()) return false;
  if (text_of(normalizer, "type") == "NFC") return true;
  const Json& parts = member(normalizer, "normalizers");
  if (text_of(normalizer, "type") != "Sequence" || !parts.is_array()) return std::nullopt;
  bool nfc = false;
  for (const Json& part : parts) {
    const auto read = nfc_of(part);
    if (!read) return std::nullopt;
    nfc |= *read;
  }
  return nfc;
}

// ByteLevel, or a Split by a pattern that we know before it; nothing: another pre-tokenizer.
std::optional<Split> split_of(const Json& pre_tokenizer) {
  const auto is_byte_level = [](const Json& part) {
    return text_of(part, "type") == "ByteLevel" && member(part, "add_prefix_space") == false;
  };
  if (text_of(pre_tokenizer, "type") != "Sequence") {
    if (!is_byte_level(pre_tokenizer)) return std::nullopt;
    return member(pre_tokenizer, "use_regex") == false ? Split::None : Split::Gpt2;
  }
  const Json& parts = member(pre_tokenizer, "pretokenizers");
  const bool split_then_bytes = parts.is_array() && parts.size() == 2 &&
                                text_of(parts[0], "type") == "Split" && is_byte_level(parts[1]) &&
                                member(parts[1], "use_regex") == false;
  if (!split_then_bytes) return std::nullopt;
  const bool invert = member(parts[0], "invert") == true;
  if (text_of(parts[0], "behavior") != (invert ? "Removed" : "Isolated")) return std::nullopt;
  return split_of_pattern(text_of(member(parts[0], "pattern"), "Regex"));
}

// Whether ids become bytes and nothing else happens. Without a decoder Hugging Face writes the
// tokens' spellings, with spaces between them; bytes are what such a file means.
bool decodes_bytes(const Json& decoder) {
  if (decoder.is_null() || text_of(decoder, "type") == "ByteLevel") return true;
  const Json& parts = member(decoder, "decoders");
  return text_of(decoder, "type") == "Sequence" && parts.is_array() && !parts.empty() &&
         std::all_of(parts.begin(), parts.end(),
                     [](const Json& part) { return text_of(part, "type") == "ByteLevel"; });
}

void warn_of_other_unicode(const Json& own, std::string_view origin) {
  if (!own.is_object()) return;
  if (const std::string version = text_of(own, "unicode"); version != unicode_version()) {
    log::warn("tokenizer_unicode", {{"file", std::string(origin)},
                                    {"made_with", version},
                                    {"here", std::string(unicode_version())}});
  }
}

}  // namespace

bool is_byte_level_bpe(const Json& tokenizer) {
  const Json& model = member(tokenizer, "model");
  const std::string type = text_of(model, "type");
  return (type.empty() || type == "BPE") && member(model, "vocab").is_object() &&
         member(model, "merges").is_array() && member(model, "byte_fallback") != true &&
         text_of(model, "continuing_subword_prefix").empty() &&
         text_of(model, "end_of_word_suffix").empty() &&
         nfc_of(member(tokenizer, "normalizer")).has_value() &&
         decodes_bytes(member(tokenizer, "decoder")) &&
         split_of(member(tokenizer, "pre_tokenizer")).has_value();
}

bool has_every_byte(const Json& tokenizer) {
  const Json& vocab = member(member(tokenizer, "model"), "vocab");
  for (int byte = 0; byte < 256; ++byte) {
    if (!vocab.contains(spell_bytes(std::string(1, static_cast<char>(byte))))) return false;
  }
  return true;
}

BpeModel parse_tokenizer_json(std::string_view file, std::string_view origin) {
  return bpe_model_from(parse_object(file, origin), origin);
}

BpeModel bpe_model_from(const Json& json, std::string_view origin) {
  const Json& inner = member(json, "model");
  check(is_byte_level_bpe(json), ErrorCode::Data,
        "{}: expected byte-level BPE with a pattern that we know", origin);
  check_merging(inner, origin);
  BpeModel model;
  const size_t num_ids = inner["vocab"].size() + member(json, "added_tokens").size();
  const std::vector<std::string> spellings = read_spellings(inner["vocab"], num_ids, origin);
  const TokenIndex index(spellings);
  model.tokens = bytes_of(spellings);
  model.merges = read_merges(member(inner, "merges"), index, origin);
  model.whole_piece_first = flag(inner, "ignore_merges", false, origin);
  model.added = read_added(member(json, "added_tokens"), num_ids, index, model.tokens, origin);
  model.nfc = *nfc_of(member(json, "normalizer"));
  model.split = *split_of(member(json, "pre_tokenizer"));
  if (const Json& post = member(json, "post_processor"); !post.is_null()) {
    model.post_processor = post.dump();
  }
  set_bos_and_eos(model, bos_and_eos_of_file(json, model.added, model.tokens.size(), origin));
  warn_of_other_unicode(member(inner, kOwnMember), origin);
  return model;
}

BosAndEos bos_and_eos_in_config(std::string_view file, const std::vector<AddedToken>& added,
                                BosAndEos otherwise, std::string_view origin) {
  const Json config = parse_object(file, origin);
  const auto id_of = [&](const Json& token) {
    const Json& content = token.is_object() ? member(token, "content") : token;
    if (content.is_null() || content == "") return -1;
    check(content.is_string(), ErrorCode::Data, "expected the text of a token, or null, got {}",
          content.dump());
    const auto found = std::ranges::find(added, content.get<std::string>(), &AddedToken::content);
    check(found != added.end(), ErrorCode::Data, "{} is no added token of the tokenizer",
          content.dump());
    return found->id;
  };
  const auto read = [&](const char* name, int32_t& id) {
    const auto value = config.find(name);
    if (value != config.end()) id = at_member<Json>(name, [&] { return id_of(*value); });
  };
  try {
    read("bos_token", otherwise.bos);
    read("eos_token", otherwise.eos);
    return otherwise;
  } catch (const MemberError& error) {
    throw Error(ErrorCode::Data, located(origin, file, error));
  }
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

// In quotes. An added token is in the vocabulary under its own text; all others under the spelling
// of bytes, which has no control characters.
std::vector<std::string> spellings_of(const BpeModel& model) {
  std::vector<std::string> spellings;
  spellings.reserve(model.tokens.size());
  for (const std::string& token : model.tokens) {
    std::string& spelling = spellings.emplace_back("\"");
    append_spelling(token, spelling);
    for (size_t at = 1; (at = spelling.find_first_of("\"\\", at)) != std::string::npos; at += 2) {
      spelling.insert(at, 1, '\\');
    }
    spelling += '"';
  }
  for (const AddedToken& added : model.added) spellings[added.id] = Json(added.content).dump();
  return spellings;
}

void append_item(std::string& list, std::initializer_list<std::string_view> parts) {
  if (!list.empty()) list += ',';
  for (const std::string_view part : parts) list += part;
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
  std::string vocab, merges, added;
  for (size_t id = 0; id < spellings.size(); ++id) {
    if (spellings[id] == "\"\"") continue;  // an id that is not in use
    append_item(vocab, {spellings[id], ":", fmt::format_int(id).str()});
  }
  for (const auto& [left, right, result] : model.merges) {
    append_item(merges, {"[", spellings[left], ",", spellings[right], "]"});
  }
  std::vector<AddedToken> by_id = model.added;
  std::sort(by_id.begin(), by_id.end(),
            [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  for (const AddedToken& token : by_id) append_item(added, {added_json(token)});
  return fmt::format(
      "{{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\n\"added_tokens\":[{}],\n"
      "\"normalizer\":{},\n\"pre_tokenizer\":{},\n\"post_processor\":{},\n"
      "\"decoder\":{{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,"
      "\"use_regex\":true}},\n"
      "\"model\":{{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,"
      "\"continuing_subword_prefix\":null,\"end_of_word_suffix\":null,\"fuse_unk\":false,"
      "\"byte_fallback\":false,\"ignore_merges\":{},\"{}\":{},\n"
      "\"vocab\":{{{}}},\n\"merges\":[{}]}}}}\n",
      added, model.nfc ? "{\"type\":\"NFC\"}" : "null", pre_tokenizer_json(model.split),
      model.post_processor.empty() ? "null" : model.post_processor, model.whole_piece_first,
      kOwnMember, own.dump(), vocab, merges);
}

}  // namespace ingot
