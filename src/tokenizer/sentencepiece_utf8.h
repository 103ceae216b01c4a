// Characters as SentencePiece counts them in normalised text: by the first byte alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ingot {

inline size_t character_size(char lead) {
  return static_cast<size_t>("\1\1\1\1\1\1\1\1\1\1\1\1\2\2\3\4"[static_cast<uint8_t>(lead) >> 4]);
}

// Of the character at `begin`, which the text may cut short.
inline size_t character_size(std::string_view text, size_t begin) {
  return std::min(character_size(text[begin]), text.size() - begin);
}

}  // namespace ingot
