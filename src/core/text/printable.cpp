#include "core/text/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/text/utf8.h"

namespace ingot {
namespace {

// C1 controls among them: an 8-bit terminal takes U+009B for the beginning of an escape sequence.
bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

std::string escaped(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return out;
}

// Whether more bytes could make `rest`, which begins no valid character, the beginning of one.
bool may_continue(std::string_view rest) {
  if (static_cast<unsigned char>(rest[0]) < 0xc2 || static_cast<unsigned char>(rest[0]) > 0xf4 ||
      rest.size() >= text::character_bytes(rest[0]))
    return false;
  // The smallest and the largest second byte that some lead allows; the others are free.
  for (const char filler : {'\x80', '\xbf'}) {
    std::string whole(rest);
    whole.resize(text::character_bytes(rest[0]), filler);
    if (valid_utf8_prefix(whole) == whole.size()) return true;
  }
  return false;
}

}  // namespace

std::string PrintableText::add(std::string_view piece) {
  const std::string text = std::exchange(waiting_, {}) + std::string(piece);
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    const size_t valid = valid_utf8_prefix(rest);
    for (size_t i = 0; i < valid;) {
      const size_t bytes = text::character_bytes(rest[i]);
      const std::string_view character = rest.substr(i, bytes);
      const bool ends_line = rest.substr(i, 2) == "\r\n";
      if (character == "\r" && at + i + 1 == text.size()) {
        waiting_ = character;
        return out;
      }
      const bool stays = ends_line || character == "\n" || character == "\t" ||
                         !is_control(text::decode(character.data()));
      out += stays ? std::string(character) : escaped(character);
      i += bytes;
    }
    at += valid;
    if (at == text.size()) break;
    if (may_continue(rest.substr(valid))) {
      waiting_ = rest.substr(valid);
      return out;
    }
    out += escaped(rest.substr(valid, 1));
    ++at;
  }
  return out;
}

std::string PrintableText::finish() {
  return escaped(std::exchange(waiting_, {}));
}

std::string printable(std::string_view text) {
  PrintableText whole;
  const std::string out = whole.add(text);
  return out + whole.finish();
}

size_t width_of(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !text::is_continuation(c); }));
}

std::string_view cut_to_width(std::string_view text, size_t columns) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!text::is_continuation(text[at]) && columns-- == 0) break;
  }
  return text.substr(0, at);
}

}  // namespace ingot
