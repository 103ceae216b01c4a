// Character classes for the pre-tokenizers: Unicode 16.0; core/text/unicode.h gives the reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/text/utf8.h"

namespace ingot {

// Flags of a code point. The patterns' \p{Lm} and \p{Lo} are letters neither upper nor lower.
enum CharacterClass : uint8_t {
  kLetter = 1,  // \p{L}
  kNumber = 2,  // \p{N}
  kSpace = 4,   // \s: the property White_Space, 25 code points; differs from Python's
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

struct Character : text::Decoded {
  uint8_t classes;  // CharacterClass flags; none for U+FFFD and invalid bytes
};

inline Character with_classes(const text::Decoded& c) {
  return {c, classes_of(c.code_point)};
}

// The first or last character of `text`, which must not be empty.
inline Character first_character(std::string_view text) {
  return with_classes(text::decode_first(text));
}
inline Character last_character(std::string_view text) {
  return with_classes(text::decode_last(text));
}

}  // namespace ingot
