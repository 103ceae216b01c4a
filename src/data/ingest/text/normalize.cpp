#include "data/ingest/text/normalize.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "data/ingest/text/python_text.h"
#include "data/ingest/text/unicode.h"
#include "data/ingest/text/utf8_decode.h"

namespace ingot::text {
namespace {

// "".join(c for c in NFD(text) if category(c) != "Mn"), character by character.
class MarkRemover {
 public:
  explicit MarkRemover(std::string& out) : out_(out) {}
  ~MarkRemover() { flush(); }

  void put(char32_t code) {
    std::array<char32_t, 3> buffer;
    const std::span<const char32_t> parts = decomposition(code, buffer);
    if (parts.empty()) put_part(code);
    for (const char32_t part : parts) put_part(part);
  }
  void put_ascii(char byte) {
    if (!waiting_.empty()) flush();
    out_ += byte;
  }

 private:
  // NFD orders marks by combining class. Of those that stay (not Mn) few have one; they wait for
  // the next character of class 0, which ends the run.
  void put_part(char32_t code) {
    const uint8_t order = combining_class(code);
    if (order == 0) flush();
    if (has(code, kNonspacingMark)) return;
    if (order == 0) {
      append_character(out_, code);
    } else {
      waiting_.emplace_back(order, code);
    }
  }
  void flush() {
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& mark : waiting_) append_character(out_, mark.second);
    waiting_.clear();
  }

  std::string& out_;
  std::vector<std::pair<uint8_t, char32_t>> waiting_;
};

bool is_digit(const char* p) {
  const auto byte = static_cast<unsigned char>(*p);
  return byte < 0x80 ? byte >= '0' && byte <= '9' : has(decode(p), kDigit);
}

const char* skip_digits(const char* p, const char* end) {
  while (p != end && is_digit(p)) p += character_bytes(*p);
  return p;
}

bool is_decimal_mark(NormalForm form, char32_t code) {
  if (code == '.') return true;
  return form == NormalForm::Datatrove010 &&
         (code == ',' || code == 0x60C || code == 0x66B || (code >= 0x2396 && code <= 0x2398));
}

// The end of the number that begins at p with a digit.
const char* skip_number(NormalForm form, const char* p, const char* end) {
  p = skip_digits(p, end);
  if (p != end && is_decimal_mark(form, decode(p))) {
    const char* fraction = p + character_bytes(*p);
    const char* stop = skip_digits(fraction, end);
    if (stop != fraction) return stop;
  }
  return p;
}

enum AsciiKind : uint8_t { kPlain, kBlank, kAsciiDigit };

// PUNCT or whitespace, which both become a space, and digits.
constexpr std::array<AsciiKind, 128> ascii_kinds() {
  std::array<AsciiKind, 128> kinds{};
  for (size_t c = 0; c < 128; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    kinds[c] = letter ? kPlain : c >= '0' && c <= '9' ? kAsciiDigit : kBlank;
  }
  return kinds;
}
constexpr std::array<AsciiKind, 128> kAsciiKinds = ascii_kinds();

// Numbers, punctuation and whitespace in one pass over lower-cased text.
void simplify(NormalForm form, std::string_view lowered, std::string& out) {
  MarkRemover remover(out);
  const char *p = lowered.data(), *end = p + lowered.size();
  bool blank_before = false, is_empty = true;
  const auto leave_blank = [&] {
    if (blank_before && !is_empty) remover.put_ascii(' ');
    blank_before = is_empty = false;
  };
  while (p != end) {
    const auto byte = static_cast<unsigned char>(*p);
    if (byte < 0x80) {
      switch (kAsciiKinds[byte]) {
        case kBlank:
          blank_before = true;
          ++p;
          break;
        case kPlain:
          leave_blank();
          remover.put_ascii(*p++);
          break;
        case kAsciiDigit:
          leave_blank();
          remover.put_ascii('0');
          p = skip_number(form, p, end);
      }
      continue;
    }
    const char32_t code = decode(p);
    const uint16_t flags = properties_of(code);
    if ((flags & kDigit) != 0) {
      // FULLWIDTH DIGIT ONE is in PUNCT, by accident, but numbers are replaced before.
      leave_blank();
      remover.put_ascii('0');
      p = skip_number(form, p, end);
      continue;
    }
    p += character_bytes(*p);
    if ((flags & (kPunctuation | kSpace)) != 0) {
      blank_before = true;
    } else {
      leave_blank();
      remover.put(code);
    }
  }
}

void collapse_then_delete(std::string_view lowered, std::string& out) {
  std::string clean;
  {
    MarkRemover remover(clean);
    std::string_view word;
    for (bool first = true; next_word(lowered, word); first = false) {
      if (!first) remover.put_ascii(' ');
      for (const char *p = word.data(), *end = p + word.size(); p != end;) {
        const char32_t code = next_character(p);
        if (!has(code, kPunctuation)) remover.put(code);
      }
    }
  }
  for (const char *p = clean.data(), *end = p + clean.size(); p != end;) {
    if (is_digit(p)) {
      out += '0';
      p = skip_digits(p, end);
    } else {
      append_character(out, next_character(p));
    }
  }
}

}  // namespace

void normalize(NormalForm form, std::string_view text, std::string& out) {
  const std::string lowered = lower(text);
  out.clear();
  if (form == NormalForm::Datatrove02) {
    collapse_then_delete(lowered, out);
  } else {
    simplify(form, lowered, out);
  }
  // Dropping a mark that stood alone may have bared a space.
  const std::string_view stripped = strip(out);
  if (stripped.size() != out.size()) out = std::string(stripped);
}

}  // namespace ingot::text
