// What the pre-tokenizers ask of a character, from tables of one fixed Unicode version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ingot {

// Flags of a code point. The patterns' \p{Lm} and \p{Lo} are letters neither upper nor lower.
enum CharacterClass : uint8_t {
  kLetter = 1,  // \p{L}
  kNumber = 2,  // \p{N}
  kSpace = 4,   // \s: the property White_Space, 25 code points; not what Python calls a space
  kUpper = 8,   // \p{Lu} or \p{Lt}
  kLower = 16,  // \p{Ll}
  kMark = 32,   // \p{M}
  kWord = 64,   // \w
  kNfc = 128,   // NFC, of Unicode 9, may replace it, move it, or join it to the character before
};

std::string_view unicode_version();  // "16.0.0"

namespace unicode_tables {  // of code point / kBlockSize, then of code point % kBlockSize
inline constexpr uint32_t kBlockSize = 128;
extern const uint8_t kBlockOf[0x110000 / kBlockSize];
extern const uint8_t kClassesOf[][kBlockSize];
}  // namespace unicode_tables

inline uint8_t classes_of(uint32_t code_point) {
  using namespace unicode_tables;
  return kClassesOf[kBlockOf[code_point / kBlockSize]][code_point % kBlockSize];
}

struct Character {
  uint32_t code_point;
  uint32_t size;    // bytes in UTF-8
  uint8_t classes;  // CharacterClass flags
};

// A byte that is no part of valid UTF-8 (overlong and surrogate forms are not valid).
inline constexpr Character kInvalidCharacter{0xFFFD, 1, 0};

// The character that `text`, which must not be empty, begins with.
inline Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(text[i])); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, classes_of(lead)};
  const uint32_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return kInvalidCharacter;
  uint32_t point = lead & (0x7Fu >> size);
  for (uint32_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return kInvalidCharacter;
    point = point << 6 | (byte(i) & 0x3F);
  }
  const bool overlong = point < (size == 2 ? 0x80u : size == 3 ? 0x800u : 0x10000u);
  if (overlong || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return kInvalidCharacter;
  return {point, size, classes_of(point)};
}

inline Character last_character(std::string_view text) {  // must not be empty
  size_t size = 1;
  while (size < 4 && size < text.size() && (text[text.size() - size] & 0xC0) == 0x80) ++size;
  const Character c = first_character(text.substr(text.size() - size));
  return c.size == size ? c : kInvalidCharacter;
}

}  // namespace ingot
