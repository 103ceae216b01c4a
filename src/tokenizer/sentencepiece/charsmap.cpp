#include "tokenizer/sentencepiece/charsmap.h"

#include <cstring>

#include "core/error/error.h"
#include "core/text/utf8.h"

namespace ingot {
namespace {

uint32_t label_of(uint32_t unit) {
  return unit & (1U << 31 | 0xFF);
}
uint32_t offset_of(uint32_t unit) {
  return unit >> 10 << ((unit & 1U << 9) >> 6);
}
bool has_value(uint32_t unit) {
  return (unit >> 8 & 1) != 0;
}
uint32_t value_of(uint32_t unit) {
  return unit & ~(1U << 31);
}

std::string utf8_of(uint32_t point) {
  std::string text;
  text::append_character(text, point);
  return text;
}

}  // namespace

// u32 size of the trie, the trie, the replacements.
CharsMap::CharsMap(std::string_view charsmap, std::string_view origin) {
  uint32_t size = 0;
  check(charsmap.size() > sizeof size, ErrorCode::Data,
        "{}: charsmap: expected more than 4 bytes, got {}", origin, charsmap.size());
  std::memcpy(&size, charsmap.data(), sizeof size);
  charsmap.remove_prefix(sizeof size);
  // Whole blocks of 256 units: from a base in the array, no byte leads out of it.
  check(
      size >= 1024 && size % 1024 == 0 && size < charsmap.size() && charsmap.back() == '\0',
      ErrorCode::Data,
      "{}: charsmap: expected a trie of whole blocks of 1024 bytes and replacements that end with "
      "NUL, got a trie of {} bytes in {}",
      origin, size, charsmap.size());
  units_.resize(size / sizeof(uint32_t));
  std::memcpy(units_.data(), charsmap.data(), size);
  replacements_ = charsmap.substr(size);
}

std::optional<CharsMap::Node> CharsMap::root() const {
  if (units_.empty()) return {};
  return Node{offset_of(units_[0]), false};
}

std::optional<CharsMap::Node> CharsMap::child(const Node& node, uint8_t byte) const {
  if (node.base >= units_.size()) return {};  // a damaged trie
  const uint32_t at = node.base ^ byte;
  if (label_of(units_[at]) != byte) return {};
  const uint32_t base = at ^ offset_of(units_[at]);
  return Node{base, has_value(units_[at]) && base < units_.size()};
}

CharsMap::Match CharsMap::longest(std::string_view text) const {
  Match longest{0, {}};
  std::optional<Node> node = root();
  for (size_t i = 0; i < text.size() && node; ++i) {
    node = child(*node, static_cast<uint8_t>(text[i]));
    if (!node || !node->ends) continue;
    const uint32_t value = value_of(units_[node->base]);
    longest = {0, {}};
    if (value < replacements_.size()) longest = {i + 1, replacements_.data() + value};
  }
  return longest;
}

CharsMap::Match CharsMap::shortest(std::string_view text) const {
  std::optional<Node> node = root();
  for (size_t i = 0; i < text.size() && node; ++i) {
    node = child(*node, static_cast<uint8_t>(text[i]));
    if (!node || !node->ends) continue;
    const uint32_t value = value_of(units_[node->base]);
    if (value < replacements_.size()) return {i + 1, replacements_.data() + value};
  }
  return {0, {}};
}

CharsMap::Characters CharsMap::characters() const {
  Characters characters;
  std::vector<bool> seen(units_.size());
  for (uint32_t point = 0; point < kBasicPlane; ++point) {
    std::optional<Node> node = root();
    for (const char byte : utf8_of(point)) {
      if (node) node = child(*node, static_cast<uint8_t>(byte));
      if (node && node->ends) characters.replaced.set(point);
    }
    if (node) find_second(*node, 0, -1, seen, characters);
  }
  return characters;
}

// Continues from a character's end, or from inside the next one. No node is visited twice: in a
// trie that is impossible, and in a damaged one it might never end.
void CharsMap::find_second(const Node& node, uint32_t point, int bytes_left,
                           std::vector<bool>& seen, Characters& characters) const {
  if (node.base >= units_.size() || seen[node.base]) return;
  seen[node.base] = true;
  for (uint32_t byte = bytes_left < 0 ? 0 : 0x80; byte < (bytes_left < 0 ? 0xF0u : 0xC0u); ++byte) {
    const std::optional<Node> next = child(node, static_cast<uint8_t>(byte));
    if (!next) continue;
    if (bytes_left >= 0) {
      const uint32_t longer = point << 6 | (byte & 0x3F);
      if (bytes_left == 0) {
        characters.second.set(longer);
      } else {
        find_second(*next, longer, bytes_left - 1, seen, characters);
      }
    } else if (byte < 0x80) {
      characters.second.set(byte);
    } else if (byte >= 0xE0) {
      find_second(*next, byte & 0x0F, 1, seen, characters);
    } else if (byte >= 0xC0) {
      find_second(*next, byte & 0x1F, 0, seen, characters);
    }
  }
}

}  // namespace ingot
