// Characters as SentencePiece counts them in normalised text, by the first byte alone; what is no
// UTF-8; pieces that stand for bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tokenizer/unicode/unicode_classes.h"

namespace ingot {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

inline bool is_invalid(const Character& c) {
  return c.code_point == 0xFFFD && c.size == 1;
}

bool is_utf8(std::string_view text);
std::string valid_utf8(std::string_view text);  // U+FFFD in place of each byte that is none

std::optional<uint8_t> byte_of_piece(std::string_view piece);  // of "<0x00>" … "<0xFF>"
std::string piece_of_byte(uint8_t byte);

inline size_t character_size(char lead) {
  return static_cast<size_t>("\1\1\1\1\1\1\1\1\1\1\1\1\2\2\3\4"[static_cast<uint8_t>(lead) >> 4]);
}

// Of the character at `begin`, which the text may cut short.
inline size_t character_size(std::string_view text, size_t begin) {
  return std::min(character_size(text[begin]), text.size() - begin);
}

}  // namespace ingot
