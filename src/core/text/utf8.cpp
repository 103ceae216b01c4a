#include "core/text/utf8.h"

#include <cstdint>
#include <cstring>

namespace ingot {
namespace {

constexpr size_t kBlock = 64;

// The eight words are or-ed without a branch between them, which compilers turn into vector code.
bool block_is_ascii(const unsigned char* p) {
  uint64_t any = 0;
  for (size_t i = 0; i < kBlock; i += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, p + i, sizeof(word));
    any |= word;
  }
  return (any & 0x8080808080808080u) == 0;
}

// Bytes of the well-formed character of two or more bytes at p, 0 if there is none in p[0, left).
size_t long_character(const unsigned char* p, size_t left) {
  const auto tail = [&](size_t i) { return (p[i] & 0xC0) == 0x80; };
  const unsigned lead = p[0];
  if (lead < 0xC2) return 0;  // a continuation, or the overlong C0 and C1
  if (lead < 0xE0) return left >= 2 && tail(1) ? 2 : 0;
  if (lead < 0xF0) {
    if (left < 3 || !tail(1) || !tail(2)) return 0;
    if (lead == 0xE0 && p[1] < 0xA0) return 0;   // overlong
    if (lead == 0xED && p[1] >= 0xA0) return 0;  // surrogates
    return 3;
  }
  if (lead > 0xF4 || left < 4 || !tail(1) || !tail(2) || !tail(3)) return 0;
  if (lead == 0xF0 && p[1] < 0x90) return 0;   // overlong
  if (lead == 0xF4 && p[1] >= 0x90) return 0;  // above U+10FFFF
  return 4;
}

}  // namespace

size_t valid_utf8_prefix(std::string_view text) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
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
      if (p[i] < 0x80) {
        ++i;
        continue;
      }
      const size_t length = long_character(p + i, text.size() - i);
      if (length == 0) return i;
      i += length;
    }
  }
  return i;
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
