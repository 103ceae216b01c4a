#include "ingest/text/normalize.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/text/python_text.h"
#include "core/text/unicode.h"
#include "core/text/utf8.h"

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
  // The lower-case form, which for all but U+03A3, the sigma, does not depend on its neighbours.
  void put_lower(char32_t code) {
    if (code == 0x130) {
      put('i');
      put(0x307);
    } else {
      put(simple_lower(code));
    }
  }
  void put_ascii(std::string_view bytes) {
    if (!waiting_.empty()) flush();
    out_ += bytes;
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

// What an ASCII character becomes: a letter its lower case, PUNCT and whitespace a space, a digit
// 0, which stands for «not by this table».
constexpr std::array<char, 256> ascii_forms() {
  std::array<char, 256> forms{};
  for (int c = 0; c < 128; ++c) {
    const bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
    const bool digit = c >= '0' && c <= '9';
    const int form = upper ? c + 'a' - 'A' : lower ? c : digit ? 0 : ' ';
    forms[static_cast<size_t>(c)] = static_cast<char>(form);
  }
  return forms;
}
constexpr std::array<char, 256> kAsciiForms = ascii_forms();

// Everything but the final sigma in one pass. Blanks are put out when they begin; `last` says
// whether one was, so that a run of them gives one.
void simplify(NormalForm form, std::string_view text, std::string& out) {
  constexpr std::ptrdiff_t kRun = 256;
  MarkRemover remover(out);
  const char *p = text.data(), *end = p + text.size();
  char last = ' ';  // none at the beginning
  while (p != end) {
    // A run of ASCII without digits, which is most of most texts, has no branch that depends on it.
    std::array<char, kRun> run;
    size_t size = 0;
    for (const char* stop = p + std::min(kRun, end - p); p != stop; ++p) {
      const char simple = kAsciiForms[static_cast<unsigned char>(*p)];
      if (simple == 0) break;
      run[size] = simple;
      size += !(simple == ' ' && last == ' ');
      last = simple;
    }
    if (size != 0) remover.put_ascii({run.data(), size});
    if (p == end || kAsciiForms[static_cast<unsigned char>(*p)] != 0) continue;

    const char32_t code = decode(p);
    const uint16_t flags = properties_of(code);
    if ((flags & kDigit) != 0) {
      // FULLWIDTH DIGIT ONE is in PUNCT, by accident, but numbers are replaced before.
      remover.put_ascii("0");
      last = '0';
      p = skip_number(form, p, end);
      continue;
    }
    p += character_bytes(*p);
    if ((flags & (kPunctuation | kSpace)) != 0) {
      if (last != ' ') remover.put_ascii(" ");
      last = ' ';
    } else {
      remover.put_lower(code);
      last = 0;  // also where nothing of it is left: blanks are collapsed before marks are removed
    }
  }
}

void collapse_then_delete(std::string_view lowered, std::string& out) {
  std::string clean;
  {
    MarkRemover remover(clean);
    std::string_view word;
    for (bool first = true; next_word(lowered, word); first = false) {
      if (!first) remover.put_ascii(" ");
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
  constexpr std::string_view kSigma = "\xCE\xA3";
  out.clear();
  if (form == NormalForm::Datatrove02) {
    collapse_then_delete(lower(text), out);
  } else if (text.find(kSigma) != std::string_view::npos) {
    simplify(form, lower(text), out);
  } else {
    simplify(form, text, out);
  }
  // Blanks at the end, or bared by a mark that stood alone.
  const std::string_view stripped = strip(out);
  if (stripped.size() != out.size()) out = std::string(stripped);
}

}  // namespace ingot::text
