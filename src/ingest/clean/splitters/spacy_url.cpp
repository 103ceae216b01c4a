// spaCy's URL pattern (after Diego Perini's) without backtracking:
//
//   (scheme "://")? (anything "@")? (address | host) (":" digits{2,5})? ([/?#] anything)?
//
// The scheme, where there is one, ends at the first colon, and the part before "@" is free, so the
// host begins at the front, behind the scheme or behind one of the "@". From each of these the
// match is decided by one walk, and the walks do not overlap, since no host has "@" in it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "core/text/unicode.h"
#include "core/text/utf8.h"
#include "ingest/clean/splitters/spacy_affixes.h"
#include "ingest/clean/splitters/spacy_data.h"

namespace ingot {
namespace {

using text::character_bytes;
using text::decode;
using text::has;

constexpr size_t kMaxLabel = 64, kMinTopLevel = 2, kMaxTopLevel = 63;
constexpr size_t kMinPort = 2, kMaxPort = 5;

// Characters from p on that satisfy `test`, at most `limit`; moves p behind them.
template <class Test>
size_t skip(const char*& p, const char* end, size_t limit, Test test) {
  size_t count = 0;
  for (; p != end && count < limit && test(decode(p)); ++count) p += character_bytes(*p);
  return count;
}

bool is_digit(char32_t code) {
  return has(code, text::kDigit);
}

// What may follow a host: port and path, to the end of the chunk.
bool is_rest(const char* p, const char* end) {
  if (p != end && *p == ':') {
    const char* port = p + 1;
    if (skip(port, end, kMaxPort, is_digit) >= kMinPort &&
        (port == end || !is_digit(decode(port)))) {
      p = port;
    }
  }
  return p == end || *p == '/' || *p == '?' || *p == '#';
}

// One to three characters, all of them \d; those that are not ASCII match only where the pattern
// says \d, never where it names a digit.
struct Octet {
  std::array<char32_t, 3> digit{};
  size_t count = 0;

  bool is_at(size_t i, char32_t low, char32_t high) const {
    return digit[i] >= low && digit[i] <= high;
  }
};

bool is_first_octet(const Octet& o) {  // [1-9]\d?|1\d\d|2[01]\d|22[0-3]
  if (o.count < 3) return o.is_at(0, '1', '9');
  return o.digit[0] == '1' || (o.digit[0] == '2' && o.is_at(1, '0', '1')) ||
         (o.digit[0] == '2' && o.digit[1] == '2' && o.is_at(2, '0', '3'));
}

bool is_middle_octet(const Octet& o) {  // 1?\d{1,2}|2[0-4]\d|25[0-5]
  return o.count < 3 || o.digit[0] == '1' || (o.digit[0] == '2' && o.is_at(1, '0', '4')) ||
         (o.digit[0] == '2' && o.digit[1] == '5' && o.is_at(2, '0', '5'));
}

bool is_last_octet(const Octet& o) {  // [1-9]\d?|1\d\d|2[0-4]\d|25[0-4]
  if (o.count < 3) return o.is_at(0, '1', '9');
  return o.digit[0] == '1' || (o.digit[0] == '2' && o.is_at(1, '0', '4')) ||
         (o.digit[0] == '2' && o.digit[1] == '5' && o.is_at(2, '0', '4'));
}

bool spells(const Octet& o, std::string_view digits) {
  return o.count == digits.size() &&
         std::equal(digits.begin(), digits.end(), o.digit.begin(),
                    [](char a, char32_t b) { return static_cast<char32_t>(a) == b; });
}

bool is_private(const std::array<Octet, 4>& o) {
  if (spells(o[0], "10") || spells(o[0], "127")) return true;
  if (spells(o[0], "169") && spells(o[1], "254")) return true;
  if (spells(o[0], "192") && spells(o[1], "168")) return true;
  // 172.(1[6-9]|2\d|3[0-1])
  return spells(o[0], "172") && o[1].count == 2 &&
         ((o[1].digit[0] == '1' && o[1].is_at(1, '6', '9')) || o[1].digit[0] == '2' ||
          (o[1].digit[0] == '3' && o[1].is_at(1, '0', '1')));
}

bool is_address_url(const char* p, const char* end) {
  std::array<Octet, 4> octets;
  for (Octet& octet : octets) {
    if (&octet != &octets[0]) {
      if (p == end || *p != '.') return false;
      ++p;
    }
    while (p != end && octet.count < 3 && is_digit(decode(p))) {
      octet.digit[octet.count++] = decode(p);
      p += character_bytes(*p);
    }
    if (octet.count == 0) return false;
  }
  return !is_private(octets) && is_first_octet(octets[0]) && is_middle_octet(octets[1]) &&
         is_middle_octet(octets[2]) && is_last_octet(octets[3]) && is_rest(p, end);
}

bool is_host_letter(char32_t code) {
  return (spacy_class(code) & kSpacyHost) != 0;
}

bool is_host_url(const char* p, const char* end) {
  for (bool has_label = false;; has_label = true) {
    if (has_label) {
      const char* stop = p;
      const size_t letters = skip(stop, end, kMaxTopLevel, [](char32_t code) {
        return (spacy_class(code) & kSpacyLower) != 0;
      });
      if (letters >= kMinTopLevel && is_rest(stop, end)) return true;
    }
    // A label: host letters, with - and _ inside.
    char32_t last = 0;
    if (p == end || !is_host_letter(decode(p))) return false;
    skip(p, end, kMaxLabel, [&](char32_t code) {
      const bool fits = is_host_letter(code) || code == '-' || code == '_';
      if (fits) last = code;
      return fits;
    });
    if (!is_host_letter(last) || p == end || *p != '.') return false;
    ++p;
  }
}

// The end of "scheme://" at the beginning of the chunk.
std::optional<size_t> scheme_end(std::string_view chunk) {
  const size_t colon = chunk.find(':');
  if (colon == std::string_view::npos || chunk.substr(colon, 3) != "://") return {};
  const char *p = chunk.data(), *end = p + colon;
  const size_t length = skip(p, end, chunk.size(), [](char32_t code) {
    return has(code, text::kWordCharacter) || code == '+' || code == '-' || code == '.';
  });
  if (p != end || length < 2) return {};
  return colon + 3;
}

}  // namespace

bool spacy_is_url(std::string_view chunk) {
  if (chunk.find('.') == std::string_view::npos) return false;
  const char* end = chunk.data() + chunk.size();
  const auto matches = [&](size_t begin) {
    const char* p = chunk.data() + begin;
    return is_address_url(p, end) || is_host_url(p, end);
  };
  if (matches(0)) return true;
  if (const auto begin = scheme_end(chunk); begin && matches(*begin)) return true;
  for (size_t at = chunk.find('@', 1); at != std::string_view::npos; at = chunk.find('@', at + 1)) {
    if (matches(at + 1)) return true;
  }
  return false;
}

}  // namespace ingot
