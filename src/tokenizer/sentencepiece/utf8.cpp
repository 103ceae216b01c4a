#include "tokenizer/sentencepiece/utf8.h"

namespace ingot {

bool is_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Character c = first_character(text.substr(at));
    if (is_invalid(c)) return false;
    at += c.size;
  }
  return true;
}

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  size_t copied = 0;
  for (size_t at = 0; at < text.size();) {
    const Character c = first_character(text.substr(at));
    if (is_invalid(c)) {
      valid.append(text, copied, at - copied) += kReplacementCharacter;
      copied = at + 1;
    }
    at += c.size;
  }
  return valid.append(text, copied);
}

std::optional<uint8_t> byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return {};
  unsigned byte = 0;
  for (const char digit : piece.substr(3, 2)) {
    if (digit >= '0' && digit <= '9') {
      byte = byte * 16 + static_cast<unsigned>(digit - '0');
    } else if (digit >= 'A' && digit <= 'F') {
      byte = byte * 16 + static_cast<unsigned>(digit - 'A' + 10);
    } else {
      return {};
    }
  }
  return static_cast<uint8_t>(byte);
}

std::string piece_of_byte(uint8_t byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return {'<', '0', 'x', kDigits[byte / 16], kDigits[byte % 16], '>'};
}

}  // namespace ingot
