#include "tokenizer/sentencepiece/byte_pieces.h"

namespace ingot {

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
