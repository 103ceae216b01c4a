#include "tokenizer/hf/decoder.h"

#include <utility>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "tokenizer/bpe/byte_alphabet.h"
#include "tokenizer/hf/json_fields.h"
#include "tokenizer/hf/metaspace.h"
#include "tokenizer/replace_all.h"
#include "tokenizer/sentencepiece/byte_pieces.h"
#include "tokenizer/sentencepiece/normalizer.h"

namespace ingot {
namespace {

// What a run of bytes is: one token of text, or U+FFFD for each of them, a token each.
void append_bytes(const std::string& bytes, std::vector<std::string>& tokens) {
  if (bytes.empty()) return;
  if (is_utf8(bytes)) return tokens.push_back(bytes);
  tokens.insert(tokens.end(), bytes.size(), std::string(text::kReplacementCharacter));
}

void decode_bytes(std::vector<std::string>& tokens) {
  std::vector<std::string> out;
  std::string bytes;
  for (std::string& token : tokens) {
    if (const auto byte = byte_of_piece(token)) {
      bytes += static_cast<char>(*byte);
      continue;
    }
    append_bytes(bytes, out);
    bytes.clear();
    out.push_back(std::move(token));
  }
  append_bytes(bytes, out);
  tokens = std::move(out);
}

std::string concatenated(const std::vector<std::string>& tokens, std::string_view between) {
  std::string text;
  for (const std::string& token : tokens) {
    if (&token != &tokens.front()) text += between;
    text += token;
  }
  return text;
}

void strip(std::string& token, std::string_view character, size_t start, size_t stop) {
  for (; start > 0 && token.starts_with(character); --start) token.erase(0, character.size());
  for (; stop > 0 && token.ends_with(character); --stop) {
    token.resize(token.size() - character.size());
  }
}

// English spelling, as WordPiece's cleanup has it.
void clean_up(std::string& token) {
  static constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kRules) replace_all(token, from, to);
}

size_t count_of(const Json& part, const char* name, std::string_view origin) {
  const Json& value = member(part, name);
  check(value.is_number_unsigned(), ErrorCode::Data,
        "{}: decoder Strip: expected a number for \"{}\", got {}", origin, name, value.dump());
  return value.get<size_t>();
}

}  // namespace

HfDecoder::HfDecoder(const Json& decoder, std::string_view origin)
    : spaces_between_tokens_(decoder.is_null()) {
  if (!decoder.is_null()) add(decoder, origin);
}

void HfDecoder::add(const Json& part, std::string_view origin) {
  const std::string type = text_of(part, "type");
  if (type == "Sequence") {
    const Json& parts = member(part, "decoders");
    check(parts.is_array(), ErrorCode::Data, "{}: a Sequence without its list of decoders", origin);
    for (const Json& one : parts) add(one, origin);
  } else if (type == "Replace") {
    Step step{Kind::Replace, text_of(part, "content")};
    step.pattern.emplace(member(part, "pattern"), "decoder Replace", origin);
    steps_.push_back(std::move(step));
  } else if (type == "ByteFallback") {
    steps_.push_back({Kind::ByteFallback, {}});
  } else if (type == "Fuse") {
    steps_.push_back({Kind::Fuse, {}});
  } else if (type == "Strip") {
    const std::string content = text_of(part, "content");
    check(!content.empty() && text::decode_first(content).size == content.size(), ErrorCode::Data,
          "{}: decoder Strip: expected one character as its content, got \"{}\"", origin, content);
    steps_.push_back(
        {Kind::Strip, content, count_of(part, "start", origin), count_of(part, "stop", origin)});
  } else if (type == "Metaspace") {
    const HfMetaspace metaspace(part, origin);
    Step step{Kind::Metaspace, metaspace.replacement};
    step.drops_prefix = metaspace.prefix != HfMetaspace::Prefix::Never;
    steps_.push_back(std::move(step));
  } else if (type == "ByteLevel") {
    steps_.push_back({Kind::ByteLevel, {}});
  } else if (type == "WordPiece") {
    Step step{Kind::WordPiece, text_of(part, "prefix")};
    step.cleanup = flag(part, "cleanup", true, origin);
    steps_.push_back(std::move(step));
  } else if (type == "BPEDecoder") {
    steps_.push_back({Kind::Bpe, text_of(part, "suffix")});
  } else {
    check(false, ErrorCode::Data,
          "{}: decoder \"{}\" is not supported: expected Replace, ByteFallback, Fuse, Strip, "
          "Metaspace, ByteLevel, WordPiece or BPEDecoder",
          origin, type);
  }
}

std::string HfDecoder::decode(std::vector<std::string> tokens) const {
  for (const Step& step : steps_) apply(step, Place::Whole, tokens);
  return concatenated(tokens, spaces_between_tokens_ ? " " : "");
}

std::string HfDecoder::decode_inside(std::string token) const {
  std::vector<std::string> tokens{std::move(token)};
  for (const Step& step : steps_) {
    if (step.kind != Kind::Strip) apply(step, Place::Inside, tokens);
  }
  return concatenated(tokens, "") + (spaces_between_tokens_ ? " " : "");
}

void HfDecoder::apply(const Step& step, Place place, std::vector<std::string>& tokens) {
  if (tokens.empty()) return;
  switch (step.kind) {
    case Kind::Replace:
      for (std::string& token : tokens) step.pattern->replace(token, step.content);
      break;
    case Kind::ByteFallback:
      decode_bytes(tokens);
      break;
    case Kind::Fuse:
      tokens = {concatenated(tokens, "")};
      break;
    case Kind::Strip:
      for (std::string& token : tokens) strip(token, step.content, step.start, step.stop);
      break;
    case Kind::Metaspace:
      for (std::string& token : tokens) {
        const bool is_first = place == Place::Whole && &token == &tokens.front();
        replace_all(token, step.content, step.drops_prefix && is_first ? "" : " ");
      }
      break;
    case Kind::ByteLevel:
      for (std::string& token : tokens) token = spelt_bytes(token).value_or(token);
      tokens = {concatenated(tokens, "")};
      break;
    case Kind::WordPiece:
      for (std::string& token : tokens) {
        if (place == Place::Inside || &token != &tokens.front()) {
          if (token.starts_with(step.content)) {
            token.erase(0, step.content.size());
          } else {
            token.insert(0, 1, ' ');
          }
        }
        if (step.cleanup) clean_up(token);
      }
      break;
    case Kind::Bpe:
      for (std::string& token : tokens) {
        const bool is_last = place == Place::Whole && &token == &tokens.back();
        if (!step.content.empty()) replace_all(token, step.content, is_last ? "" : " ");
      }
      break;
  }
}

}  // namespace ingot
