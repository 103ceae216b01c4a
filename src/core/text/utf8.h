// UTF-8, in two forms: what takes a pointer trusts that the text is valid; what takes a string_view
// accepts any bytes and says which of them are no character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ingot::text {

inline bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// Bytes of the character that begins with `lead`, by that byte alone; 1 for a continuation.
inline uint32_t character_bytes(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
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

// Bytes of the well-formed character at p (Unicode 15, table 3-7: no surrogates, no overlong forms,
// nothing above U+10FFFF), 0 if there is none in p[0, left); `left` must not be 0.
inline uint32_t well_formed_bytes(const char* p, size_t left) {
  const auto byte = [p](int i) { return static_cast<unsigned>(static_cast<unsigned char>(p[i])); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;  // a continuation, or the overlong C0 and C1
  if (lead < 0xE0) return left >= 2 && is_continuation(p[1]) ? 2 : 0;
  if (lead < 0xF0) {
    if (left < 3 || !is_continuation(p[1]) || !is_continuation(p[2])) return 0;
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;   // overlong
    if (lead == 0xED && byte(1) >= 0xA0) return 0;  // surrogates
    return 3;
  }
  if (lead > 0xF4 || left < 4) return 0;
  if (!is_continuation(p[1]) || !is_continuation(p[2]) || !is_continuation(p[3])) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;   // overlong
  if (lead == 0xF4 && byte(1) >= 0x90) return 0;  // above U+10FFFF
  return 4;
}

// A character, or a byte that is part of none: then U+FFFD, of one byte.
struct Decoded {
  uint32_t code_point;
  uint32_t size;  // bytes in UTF-8
};
inline constexpr Decoded kInvalid{0xFFFD, 1};
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

inline bool is_invalid(const Decoded& c) {
  return c.code_point == kInvalid.code_point && c.size == kInvalid.size;
}

// The character that `text`, which must not be empty, begins with.
inline Decoded decode_first(std::string_view text) {
  const uint32_t size = well_formed_bytes(text.data(), text.size());
  return size == 0 ? kInvalid : Decoded{decode(text.data()), size};
}

inline Decoded decode_last(std::string_view text) {  // must not be empty
  uint32_t size = 1;
  while (size < 4 && size < text.size() && is_continuation(text[text.size() - size])) ++size;
  const Decoded c = decode_first(text.substr(text.size() - size));
  return c.size == size ? c : kInvalid;
}

// Where the run of ASCII that begins at `begin` ends.
inline size_t ascii_end(std::string_view text, size_t begin) {
  while (begin < text.size() && static_cast<unsigned char>(text[begin]) < 0x80) ++begin;
  return begin;
}

void append_character(std::string& out, char32_t code);

}  // namespace ingot::text

namespace ingot {

// Offset of the first byte that does not begin a well-formed character; text.size() when all of it
// is valid.
size_t valid_utf8_prefix(std::string_view text);

inline bool is_utf8(std::string_view text) {
  return valid_utf8_prefix(text) == text.size();
}

std::string valid_utf8(std::string_view text);  // U+FFFD in place of each byte that is none

}  // namespace ingot
