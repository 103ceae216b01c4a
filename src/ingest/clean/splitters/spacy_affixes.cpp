#include "ingest/clean/splitters/spacy_affixes.h"

#include <algorithm>

#include "core/text/utf8.h"
#include "ingest/clean/splitters/spacy_data.h"

namespace ingot {
namespace {

using text::character_bytes;
using text::decode;
using text::previous_character;

constexpr std::string_view kEllipsis = "…";
constexpr std::string_view kDollars[] = {"US$", "C$", "A$"};
constexpr size_t kMaxUnitBytes = 10;
constexpr char32_t kDegree = U'°';

bool is_ascii_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

bool is(const char* character, int classes) {
  return (spacy_class(decode(character)) & classes) != 0;
}

// The character before `p`, or the end of the string where there is none.
bool is_before(std::string_view chunk, const char* p, int classes) {
  return p != chunk.data() && is(previous_character(p), classes);
}

size_t full_stops_at_front(std::string_view chunk) {
  const size_t run = chunk.find_first_not_of('.');
  return run == std::string_view::npos ? chunk.size() : run;
}

// A unit stands behind a digit and has none in it.
size_t unit_at_end(std::string_view chunk) {
  size_t begin = chunk.size();
  while (begin > 0 && chunk.size() - begin <= kMaxUnitBytes && !is_ascii_digit(chunk[begin - 1]))
    --begin;
  if (begin == 0 || chunk.size() - begin > kMaxUnitBytes) return 0;
  const auto units = spacy_units();
  return std::find(units.begin(), units.end(), chunk.substr(begin)) == units.end()
             ? 0
             : chunk.size() - begin;
}

size_t currency_at_end(std::string_view chunk) {
  for (const std::string_view name : kDollars) {
    if (chunk.ends_with(name) && chunk.size() > name.size() &&
        is_ascii_digit(chunk[chunk.size() - name.size() - 1])) {
      return name.size();
    }
  }
  return 0;
}

// The full stop that ends the chunk, when what precedes it lets go of it.
bool is_loose_full_stop(std::string_view chunk) {
  const char* stop = chunk.data() + chunk.size() - 1;
  if (stop == chunk.data()) return false;
  const char* before = previous_character(stop);
  if (is(before, kSpacyBeforeFinalDot)) return true;
  if (before == chunk.data()) return false;
  const char* second = previous_character(before);
  if (std::string_view("FfCcKk").find(*before) != std::string_view::npos &&
      decode(second) == kDegree) {
    return true;
  }
  return is(before, kSpacyUpper) && is(second, kSpacyUpper);
}

}  // namespace

size_t spacy_prefix_bytes(std::string_view chunk) {
  const char first = chunk[0];
  if (first == '.') {
    const size_t run = full_stops_at_front(chunk);
    return run >= 2 ? run : 0;
  }
  if (first == '+') return chunk.size() > 1 && is_ascii_digit(chunk[1]) ? 0 : 1;
  if (is(chunk.data(), kSpacyPrefix)) return character_bytes(first);
  if (first == 'U' || first == 'C' || first == 'A') {
    for (const std::string_view name : kDollars) {
      if (chunk.starts_with(name)) return name.size();
    }
  }
  return 0;
}

// The rules are alternatives of one search for the leftmost match that reaches the end: the
// longest.
size_t spacy_suffix_bytes(std::string_view chunk) {
  if (chunk.empty()) return 0;
  const char* end = chunk.data() + chunk.size();
  const char* last = previous_character(end);
  if (*last == '.') {
    const size_t before_run = chunk.find_last_not_of('.');
    const size_t run = chunk.size() - (before_run == std::string_view::npos ? 0 : before_run + 1);
    if (run >= 2) return run;
    return is_loose_full_stop(chunk) ? 1 : 0;
  }
  size_t longest = is(last, kSpacySuffix) ? static_cast<size_t>(end - last) : 0;
  if (last == chunk.data()) return longest;
  const char* before = previous_character(last);
  if (longest != 0 && decode(last) == U'…' && decode(before) == U'…') return 2 * kEllipsis.size();
  if (*last == 's' || *last == 'S') {
    const char32_t quote = decode(before);
    if (quote == '\'' || quote == U'’') return static_cast<size_t>(end - before);
  }
  const bool after_digit = is_ascii_digit(*before);
  if (after_digit && (*last == '+' || is(last, kSpacyCurrency))) {
    longest = std::max(longest, static_cast<size_t>(end - last));
  }
  if (*last == '$') longest = std::max(longest, currency_at_end(chunk));
  return longest != 0 ? longest : unit_at_end(chunk);  // no unit ends like another suffix
}

SpacyInfix spacy_next_infix(std::string_view chunk, size_t from) {
  const char *begin = chunk.data(), *end = begin + chunk.size();
  const auto followed_by = [&](const char* p, int classes) { return p != end && is(p, classes); };
  for (const char* p = begin + from; p != end;) {
    const size_t bytes = character_bytes(*p);
    const char* next = p + bytes;
    const auto found = [&](const char* stop) {
      return SpacyInfix{static_cast<size_t>(p - begin), static_cast<size_t>(stop - begin)};
    };
    const auto after_alpha_or_digit = [&] {
      return p != begin && (is_ascii_digit(p[-1]) || is_before(chunk, p, kSpacyAlpha));
    };
    switch (*p) {
      case '.':
        if (next != end && *next == '.')
          return found(p + full_stops_at_front({p, static_cast<size_t>(end - p)}));
        if (is_before(chunk, p, kSpacyLower | kSpacyQuote) &&
            followed_by(next, kSpacyUpper | kSpacyQuote)) {
          return found(next);
        }
        break;
      case '+':
      case '*':
      case '^':
      case '-':
        if (p != begin && is_ascii_digit(p[-1]) && next != end &&
            (is_ascii_digit(*next) || *next == '-')) {
          return found(next);
        }
        if (*p == '-' && after_alpha_or_digit()) {
          for (const char* stop = next; stop <= p + 3; ++stop) {  // "-", "--", "---"
            if (followed_by(stop, kSpacyAlpha)) return found(stop);
            if (stop == end || *stop != '-') break;
          }
        }
        break;
      case '~':
        if (after_alpha_or_digit() && followed_by(next, kSpacyAlpha)) return found(next);
        break;
      case ',':
        if (is_before(chunk, p, kSpacyAlpha) && followed_by(next, kSpacyAlpha)) return found(next);
        break;
      case ':':
      case '<':
      case '>':
      case '=':
      case '/':
        if (after_alpha_or_digit() && followed_by(next, kSpacyAlpha)) return found(next);
        break;
      default:
        if (bytes == 1) break;
        const char32_t code = decode(p);
        if (code == U'…' || is(p, kSpacyIcon)) return found(next);
        if ((code == U'–' || code == U'—') && after_alpha_or_digit()) {
          if (followed_by(next, kSpacyAlpha)) return found(next);
          if (code == U'—' && next != end && decode(next) == U'—') {
            const char* second = next + bytes;
            if (followed_by(second, kSpacyAlpha)) return found(second);
          }
        }
    }
    p = next;
  }
  return {chunk.size(), chunk.size()};
}

}  // namespace ingot
