// UTF-8: is it valid, and what characters does it hold?
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ingot {

// Offset of the first byte that does not begin a well-formed character (Unicode 15, table 3-7: no
// surrogates, no overlong forms, nothing above U+10FFFF); text.size() when all of it is valid.
size_t valid_utf8_prefix(std::string_view text);

}  // namespace ingot

// Code points of text that is known to be valid.
namespace ingot::text {

inline bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// Bytes of the character that begins with `lead`.
inline uint32_t character_bytes(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

inline char32_t decode(const char* p) {
  const auto byte = [p](int i) { return static_cast<char32_t>(static_cast<unsigned char>(p[i])); };
  const char32_t lead = byte(0);
  if (lead < 0x80) return lead;
  if (lead < 0xE0) return (lead & 0x1F) << 6 | (byte(1) & 0x3F);
  if (lead < 0xF0) return (lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
  return (lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
}

// Decodes the character at p and moves p behind it.
inline char32_t next_character(const char*& p) {
  const char32_t code = decode(p);
  p += character_bytes(*p);
  return code;
}

// Where the character before p begins; there must be one.
inline const char* previous_character(const char* p) {
  do --p;
  while (is_continuation(*p));
  return p;
}

void append_character(std::string& out, char32_t code);

}  // namespace ingot::text
