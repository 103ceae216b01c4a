#include "tokenizer/hf/decoder.h"

#include "core/error.h"
#include "core/text/utf8.h"
#include "tokenizer/hf/json_fields.h"
#include "tokenizer/hf/metaspace.h"
#include "tokenizer/replace_all.h"
#include "tokenizer/sentencepiece/byte_pieces.h"
#include "tokenizer/sentencepiece/normalizer.h"

namespace ingot {
namespace {

// What a run of bytes is: text, or U+FFFD for each of them.
std::string text_of_bytes(const std::string& bytes) {
  if (is_utf8(bytes)) return bytes;
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) text += text::kReplacementCharacter;
  return text;
}

void decode_bytes(std::vector<std::string>& tokens) {
  std::vector<std::string> out;
  std::string bytes;
  for (std::string& token : tokens) {
    if (const auto byte = byte_of_piece(token)) {
      bytes += static_cast<char>(*byte);
      continue;
    }
    if (!bytes.empty()) out.push_back(text_of_bytes(bytes));
    bytes.clear();
    out.push_back(std::move(token));
  }
  if (!bytes.empty()) out.push_back(text_of_bytes(bytes));
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
    const std::string pattern = text_of(member(part, "pattern"), "String");
    check(!pattern.empty(), ErrorCode::Data,
          "{}: decoder Replace of {} is not supported: expected a string", origin,
          member(part, "pattern").dump());
    steps_.push_back({Kind::Replace, pattern, text_of(part, "content")});
  } else if (type == "ByteFallback") {
    steps_.push_back({Kind::ByteFallback, {}, {}});
  } else if (type == "Fuse") {
    steps_.push_back({Kind::Fuse, {}, {}});
  } else if (type == "Strip") {
    const std::string content = text_of(part, "content");
    check(!content.empty() && text::decode_first(content).size == content.size(), ErrorCode::Data,
          "{}: decoder Strip: expected one character as its content, got \"{}\"", origin, content);
    steps_.push_back({Kind::Strip,
                      {},
                      content,
                      count_of(part, "start", origin),
                      count_of(part, "stop", origin)});
  } else if (type == "Metaspace") {
    Step step{Kind::Metaspace, {}, {}};
    step.drops_prefix = HfMetaspace(part, origin).prefix != HfMetaspace::Prefix::Never;
    steps_.push_back(std::move(step));
  } else {
    check(false, ErrorCode::Data,
          "{}: decoder \"{}\" is not supported: expected Replace, ByteFallback, Fuse, Strip or "
          "Metaspace",
          origin, type);
  }
}

std::string HfDecoder::decode(std::vector<std::string> tokens) const {
  for (const Step& step : steps_) apply(step, tokens);
  return concatenated(tokens, spaces_between_tokens_ ? " " : "");
}

void HfDecoder::apply(const Step& step, std::vector<std::string>& tokens) {
  switch (step.kind) {
    case Kind::Replace:
      for (std::string& token : tokens) replace_all(token, step.pattern, step.content);
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
        const bool drops = step.drops_prefix && &token == &tokens.front();
        replace_all(token, kSpaceMark, drops ? "" : " ");
      }
      break;
  }
}

}  // namespace ingot
