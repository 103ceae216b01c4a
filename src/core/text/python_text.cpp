#include "core/text/python_text.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/text/unicode.h"
#include "core/text/utf8.h"

namespace ingot::text {
namespace {

constexpr char32_t kCapitalIWithDot = 0x130, kCombiningDotAbove = 0x307;
constexpr char32_t kCapitalSigma = 0x3A3, kSmallSigma = 0x3C3, kFinalSigma = 0x3C2;

// Bytes at which a character with the property may begin: those below 0x80 that have it, and the
// lead bytes of the longer ones.
class LeadBytes {
 public:
  explicit LeadBytes(Property property) : property_(property) {
    for (char32_t code = 0; code < kCodePoints; ++code) {
      if (!has(code, property)) continue;
      std::string encoded;
      append_character(encoded, code);
      may_have_[static_cast<unsigned char>(encoded[0])] = true;
    }
  }

  // Has the character at p the property?
  bool has_at(const char* p) const {
    const auto byte = static_cast<unsigned char>(*p);
    return may_have_[byte] && (byte < 0x80 || has(decode(p), property_));
  }
  // The first character of [p, end) that has it; else end.
  const char* find(const char* p, const char* end) const {
    while (p != end && !has_at(p)) ++p;
    return p;
  }

 private:
  Property property_;
  std::array<bool, 256> may_have_{};
};

const LeadBytes& spaces() {
  static const LeadBytes leads(kSpace);
  return leads;
}

constexpr std::ptrdiff_t kBlock = 32;

// No control character and nothing above ASCII: no line ends in this block. The loop is of fixed
// length, which the compiler turns into vector code.
bool is_plain(const char* p) {
  unsigned char any = 0;
  for (int i = 0; i < kBlock; ++i) {
    const auto byte = static_cast<unsigned char>(p[i]);
    any = static_cast<unsigned char>(any | byte | (byte - ' '));  // the high bit of either tells
  }
  return any < 0x80;
}

std::string_view view(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

// Of the sigma at `sigma`: is it the last letter of a word of more than one? CPython's
// handle_capital_sigma.
bool is_final_sigma(std::string_view text, const char* sigma) {
  const char* p = sigma;
  bool after_letter = false;
  while (p != text.data()) {
    p = previous_character(p);
    const uint16_t flags = properties_of(decode(p));
    if ((flags & kCaseIgnorable) != 0) continue;
    after_letter = (flags & kCased) != 0;
    break;
  }
  if (!after_letter) return false;
  p = sigma + character_bytes(*sigma);
  while (p != text.data() + text.size()) {
    const uint16_t flags = properties_of(next_character(p));
    if ((flags & kCaseIgnorable) != 0) continue;
    return (flags & kCased) == 0;
  }
  return true;
}

}  // namespace

size_t length(std::string_view text) {
  // Eight bytes at a time; the eight sums of a word are added up before one can overflow.
  constexpr size_t kWordsPerSum = 255;
  size_t continuations = 0, i = 0;
  while (i + 8 <= text.size()) {
    uint64_t sums = 0;
    const size_t words = std::min(kWordsPerSum, (text.size() - i) / 8);
    for (const size_t end = i + 8 * words; i != end; i += 8) {
      uint64_t word;
      std::memcpy(&word, text.data() + i, 8);
      sums += word >> 7 & ~(word >> 6) & 0x0101010101010101u;
    }
    for (; sums != 0; sums >>= 8) continuations += sums & 0xFF;
  }
  for (; i < text.size(); ++i) continuations += is_continuation(text[i]);
  return text.size() - continuations;
}

std::string_view lstrip(std::string_view text) {
  const char *p = text.data(), *end = p + text.size();
  const LeadBytes& leads = spaces();
  while (p != end && leads.has_at(p)) p += character_bytes(*p);
  return view(p, end);
}

std::string_view rstrip(std::string_view text) {
  const char *begin = text.data(), *end = begin + text.size();
  const LeadBytes& leads = spaces();
  while (end != begin) {
    const char* last = previous_character(end);
    if (!leads.has_at(last)) break;
    end = last;
  }
  return view(begin, end);
}

std::string_view strip(std::string_view text) {
  return rstrip(lstrip(text));
}

bool next_line(std::string_view& rest, std::string_view& line) {
  if (rest.empty()) return false;
  static const LeadBytes leads(kLineBreak);
  const char *stop = rest.data(), *end = stop + rest.size();
  do {
    while (end - stop >= kBlock && is_plain(stop)) stop += kBlock;
    // To the end of a block that holds something else, or to the break.
    const char* block_end = stop + std::min(end - stop, kBlock);
    stop = leads.find(stop, block_end);
    if (stop != block_end) break;
  } while (stop != end);
  line = view(rest.data(), stop);
  if (stop != end) {
    const bool is_pair = *stop == '\r' && stop + 1 != end && stop[1] == '\n';
    stop += is_pair ? 2 : character_bytes(*stop);
  }
  rest = view(stop, end);
  return true;
}

bool next_piece(std::string_view& rest, char separator, std::string_view& piece) {
  if (rest.data() == nullptr) return false;
  const size_t stop = rest.find(separator);
  piece = rest.substr(0, stop);
  rest = stop == std::string_view::npos ? std::string_view() : rest.substr(stop + 1);
  return true;
}

bool next_word(std::string_view& rest, std::string_view& word) {
  rest = lstrip(rest);
  if (rest.empty()) return false;
  const char* end = rest.data() + rest.size();
  const char* stop = spaces().find(rest.data(), end);
  word = view(rest.data(), stop);
  rest = view(stop, end);
  return true;
}

size_t count(std::string_view text, std::string_view needle) {
  size_t found = 0;
  while (text.size() >= needle.size()) {
    const void* match = memmem(text.data(), text.size(), needle.data(), needle.size());
    if (match == nullptr) break;
    ++found;
    text.remove_prefix(static_cast<size_t>(static_cast<const char*>(match) - text.data()) +
                       needle.size());
  }
  return found;
}

void append_lower(std::string& out, std::string_view text) {
  const char *p = text.data(), *end = p + text.size();
  while (p != end) {
    if (static_cast<unsigned char>(*p) < 0x80) {
      const char byte = *p++;
      out += byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + ('a' - 'A')) : byte;
      continue;
    }
    const char* character = p;
    const char32_t code = next_character(p);
    if (code == kCapitalSigma) {
      append_character(out, is_final_sigma(text, character) ? kFinalSigma : kSmallSigma);
    } else if (code == kCapitalIWithDot) {
      out += 'i';
      append_character(out, kCombiningDotAbove);
    } else {
      append_character(out, simple_lower(code));
    }
  }
}

std::string lower(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  append_lower(out, text);
  return out;
}

bool contains(std::string_view text, std::string_view needle) {
  return text.size() >= needle.size() &&
         memmem(text.data(), text.size(), needle.data(), needle.size()) != nullptr;
}

}  // namespace ingot::text
