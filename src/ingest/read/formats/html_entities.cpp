#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/text/utf8.h"
#include "ingest/read/formats/html_text.h"

namespace ingot {
namespace {

struct Entity {
  std::string_view name, characters;
};
// Sorted by name. Names end in ';' but for those that pages of old write without.
constexpr Entity kEntities[] = {
#include "ingest/read/formats/html_entities.inc"
};
constexpr size_t kLongestName = 32;
static_assert(std::all_of(std::begin(kEntities), std::end(kEntities),
                          [](const Entity& entity) { return entity.name.size() <= kLongestName; }));

// What the numbers 0x80 to 0x9F mean on the web: windows-1252.
constexpr uint32_t kWindows1252[32] = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};
constexpr uint32_t kReplacement = 0xFFFD;

int digit_of(char c, uint32_t base) {
  if (c >= '0' && c <= '9') return c - '0';
  if (base == 16 && c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (base == 16 && c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// After "&#".
size_t append_number(std::string_view html, size_t at, std::string& out) {
  const bool is_hex = at < html.size() && (html[at] == 'x' || html[at] == 'X');
  const uint32_t base = is_hex ? 16 : 10;
  size_t end = at + (is_hex ? 1 : 0);
  const size_t first = end;
  uint32_t code = 0;
  for (int digit; end < html.size() && (digit = digit_of(html[end], base)) >= 0; ++end) {
    code = std::min<uint32_t>(code * base + static_cast<uint32_t>(digit), 0x110000);
  }
  if (end == first) {
    out += "&#";
    return at;
  }
  if (end < html.size() && html[end] == ';') ++end;
  if (code >= 0x80 && code < 0xA0) code = kWindows1252[code - 0x80];
  if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = kReplacement;
  text::append_character(out, code);
  return end;
}

}  // namespace

size_t append_character_reference(std::string_view html, size_t at, std::string& out) {
  if (html.substr(at).starts_with("&#")) return append_number(html, at + 2, out);
  const std::string_view rest = html.substr(at + 1, kLongestName);
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  size_t size = 0;
  while (size < rest.size() && is_part(rest[size])) ++size;
  if (size < rest.size() && rest[size] == ';') ++size;
  // The longest name that matches: "&notit;" is "¬it;", as browsers show it.
  for (; size > 1; --size) {
    const std::string_view name = rest.substr(0, size);
    const auto* found = std::lower_bound(
        std::begin(kEntities), std::end(kEntities), name,
        [](const Entity& entity, std::string_view wanted) { return entity.name < wanted; });
    if (found != std::end(kEntities) && found->name == name) {
      out += found->characters;
      return at + 1 + size;
    }
  }
  out += '&';
  return at + 1;
}

}  // namespace ingot
