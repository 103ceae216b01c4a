#include "core/text/utf8.h"

#include <cstdint>
#include <cstring>

namespace ingot {
namespace {

constexpr size_t kBlock = 64;

// The eight words are or-ed without a branch between them, which compilers turn into vector code.
bool block_is_ascii(const char* p) {
  uint64_t any = 0;
  for (size_t i = 0; i < kBlock; i += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, p + i, sizeof(word));
    any |= word;
  }
  return (any & 0x8080808080808080u) == 0;
}

}  // namespace

size_t valid_utf8_prefix(std::string_view text) {
  const char* p = text.data();
  size_t i = 0;
  while (i < text.size()) {
    if (text.size() - i >= kBlock && block_is_ascii(p + i)) {
      i += kBlock;
      continue;
    }
    // To the end of the block, which holds at least one long character or the end of the text: one
    // test per block, not per character, keeps prose with stray accents near the ASCII rate.
    const size_t end = text.size() - i >= kBlock ? i + kBlock : text.size();
    while (i < end) {
      const text::Decoded c = text::decode_first(text.substr(i));
      if (text::is_invalid(c)) return i;
      i += c.size;
    }
  }
  return i;
}

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const size_t good = valid_utf8_prefix(text);
    valid.append(text, 0, good);
    if (good == text.size()) break;
    valid += text::kReplacementCharacter;
    text.remove_prefix(good + 1);
  }
  return valid;
}

}  // namespace ingot

namespace ingot::text {

void append_character(std::string& out, char32_t code) {
  const auto put = [&out](char32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6), put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  }
}

}  // namespace ingot::text
