// UTF-8 in two forms: functions that take a pointer require valid text; functions that take a
// string_view accept any bytes and report which of them are not valid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ingot::text {

inline bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// Length in bytes of the character whose first byte is `lead`; 1 for a continuation byte.
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

// Decodes the character at p and moves p past it.
inline char32_t next_character(const char*& p) {
  const char32_t code = decode(p);
  p += character_bytes(*p);
  return code;
}

// Start of the character before p; there must be one.
inline const char* previous_character(const char* p) {
  do --p;
  while (is_continuation(*p));
  return p;
}

// A character, or an invalid byte: then U+FFFD with size 1.
struct Decoded {
  uint32_t code_point;
  uint32_t size;  // bytes in UTF-8
};
inline constexpr Decoded kInvalid{0xFFFD, 1};
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

inline bool is_invalid(const Decoded& c) {
  return c.code_point == kInvalid.code_point && c.size == kInvalid.size;
}

// The first character of `text`, which must not be empty, if it is well-formed (Unicode 15, table
// 3-7: no surrogates, no overlong forms, nothing above U+10FFFF).
inline Decoded decode_first(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(text[i])); };
  const auto tail = [&](size_t i) { return byte(i) ^ 0x80; };  // below 0x40: a continuation's bits
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) {
    if (lead < 0xC2 || text.size() < 2 || tail(1) >= 0x40) return kInvalid;  // C0, C1: overlong
    return {(lead & 0x1F) << 6 | tail(1), 2};
  }
  if (lead < 0xF0) {
    if (text.size() < 3 || (tail(1) | tail(2)) >= 0x40) return kInvalid;
    const uint32_t code = (lead & 0x0F) << 12 | tail(1) << 6 | tail(2);
    return code >= 0x800 && code - 0xD800 >= 0x800 ? Decoded{code, 3} : kInvalid;
  }
  if (text.size() < 4 || (tail(1) | tail(2) | tail(3)) >= 0x40) return kInvalid;
  const uint32_t code = (lead & 0x0F) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3);
  return code - 0x10000 < 0x100000 ? Decoded{code, 4} : kInvalid;  // F5 and above are invalid too
}

inline Decoded decode_last(std::string_view text) {  // must not be empty
  uint32_t size = 1;
  while (size < 4 && size < text.size() && is_continuation(text[text.size() - size])) ++size;
  const Decoded c = decode_first(text.substr(text.size() - size));
  return c.size == size ? c : kInvalid;
}

// End of the run of ASCII that starts at `begin`.
inline size_t ascii_end(std::string_view text, size_t begin) {
  while (begin < text.size() && static_cast<unsigned char>(text[begin]) < 0x80) ++begin;
  return begin;
}

void append_character(std::string& out, char32_t code);

}  // namespace ingot::text

namespace ingot {

// Offset of the first byte that does not start a well-formed character; text.size() if all of it is
// valid.
size_t valid_utf8_prefix(std::string_view text);

inline bool is_utf8(std::string_view text) {
  return valid_utf8_prefix(text) == text.size();
}

std::string valid_utf8(std::string_view text);  // each invalid byte becomes U+FFFD

}  // namespace ingot
