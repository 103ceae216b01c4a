#include "tokenizer/bpe/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "core/text/utf8.h"

namespace ingot {
namespace {

constexpr bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr int kFirstStandIn = 0x100;  // the other 68 bytes, in order
constexpr int kNumSpellings = kFirstStandIn + 68;

struct Alphabet {
  std::array<uint16_t, 256> point_of{};
  std::array<int16_t, kNumSpellings> byte_of{};  // -1: none
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  alphabet.byte_of.fill(-1);
  int stand_in = kFirstStandIn;
  for (int byte = 0; byte < 256; ++byte) {
    const int point = stands_for_itself(byte) ? byte : stand_in++;
    alphabet.point_of[byte] = static_cast<uint16_t>(point);
    alphabet.byte_of[point] = static_cast<int16_t>(byte);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

std::string spell_bytes(std::string_view bytes) {
  std::string spelling;
  append_spelling(bytes, spelling);
  return spelling;
}

void append_spelling(std::string_view bytes, std::string& out) {
  for (const char byte : bytes) {
    text::append_character(out, kAlphabet.point_of[static_cast<uint8_t>(byte)]);
  }
}

std::optional<std::string> spelt_bytes(std::string_view spelling) {
  std::string bytes;
  while (!spelling.empty()) {
    const text::Decoded c = text::decode_first(spelling);
    if (c.code_point >= kNumSpellings || kAlphabet.byte_of[c.code_point] < 0) return std::nullopt;
    bytes += static_cast<char>(kAlphabet.byte_of[c.code_point]);
    spelling.remove_prefix(c.size);
  }
  return bytes;
}

}  // namespace ingot
