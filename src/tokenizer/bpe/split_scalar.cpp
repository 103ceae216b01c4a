#include "tokenizer/bpe/split_scalar.h"

#include <algorithm>

#include "tokenizer/unicode/unicode_classes.h"

namespace ingot {
namespace {

constexpr size_t kNoMatch = static_cast<size_t>(-1);

bool is_letter(const Character& c) {
  return c.classes & kLetter;
}
bool is_number(const Character& c) {
  return c.classes & kNumber;
}
bool is_space(const Character& c) {
  return c.classes & kSpace;
}
bool is_other(const Character& c) {  // [^\s\p{L}\p{N}]
  return !(c.classes & (kLetter | kNumber | kSpace));
}
bool is_line_break(const Character& c) {
  return c.code_point == '\r' || c.code_point == '\n';
}
// o200k's halves of a word: [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] and [\p{Ll}\p{Lm}\p{Lo}\p{M}].
bool opens_word(const Character& c) {
  return (c.classes & (kLetter | kMark)) && !(c.classes & kLower);
}
bool ends_word(const Character& c) {
  return (c.classes & (kLetter | kMark)) && !(c.classes & kUpper);
}

// A place in the text that the patterns' parts are matched at; each match_ returns where it ends.
class Matcher {
 public:
  explicit Matcher(std::string_view text) : text_(text) {}

  bool at_end(size_t i) const { return i >= text_.size(); }
  Character at(size_t i) const { return first_character(text_.substr(i)); }

  template <class Class>
  size_t run(size_t i, Class is_class) const {  // is_class*
    while (!at_end(i)) {
      const Character c = at(i);
      if (!is_class(c)) break;
      i += c.size;
    }
    return i;
  }

  // 's 't 're 've 'm 'll 'd; in any case, where ſ (U+017F) is an s too.
  size_t contraction(size_t i, bool any_case) const {
    if (at_end(i) || text_[i] != '\'') return kNoMatch;
    const auto letter = [&](size_t j) -> char {
      if (j >= text_.size()) return 0;
      const char c = text_[j];
      return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    };
    const char first = letter(i + 1), second = letter(i + 2);
    if (first == 's' || first == 't' || first == 'm' || first == 'd') return i + 2;
    if (any_case && text_.substr(i + 1).starts_with("\u017F")) return i + 3;
    const bool two = (first == 'l' && second == 'l') || (first == 'v' && second == 'e') ||
                     (first == 'r' && second == 'e');
    return two ? i + 3 : kNoMatch;
  }

  // \s+(?!\S)|\s+ at a space: the run without its last character, unless that is all of it or
  // nothing follows.
  size_t spaces(size_t begin) const {
    size_t last = begin, i = begin;
    while (!at_end(i)) {
      const Character c = at(i);
      if (!is_space(c)) return last > begin ? last : i;
      last = i;
      i += c.size;
    }
    return i;
  }

  // \s*[\r\n]+: to after the last line break of the run of spaces.
  size_t line_breaks(size_t i) const {
    size_t end = kNoMatch;
    while (!at_end(i)) {
      const Character c = at(i);
      if (!is_space(c)) break;
      i += c.size;
      if (is_line_break(c)) end = i;
    }
    return end;
  }

  size_t numbers(size_t i, int most) const {  // \p{N}{1,most} at a number
    for (int count = 0; count < most && !at_end(i); ++count) {
      const Character c = at(i);
      if (!is_number(c)) break;
      i += c.size;
    }
    return i;
  }

 private:
  std::string_view text_;
};

size_t gpt2_piece(const Matcher& text) {
  if (const size_t end = text.contraction(0, false); end != kNoMatch) return end;
  const size_t i = text.at(0).code_point == ' ' && !text.at_end(1) ? 1 : 0;
  const Character c = text.at(i);
  if (is_letter(c)) return text.run(i, is_letter);
  if (is_number(c)) return text.run(i, is_number);
  if (is_other(c)) return text.run(i, is_other);
  return text.spaces(0);
}

// What the patterns after GPT-2's end with: numbers, others with the line breaks that follow,
// spaces.
template <class Tail>
size_t number_other_or_space(const Matcher& text, int most_digits, Tail is_tail) {
  const Character first = text.at(0);
  if (is_number(first)) return text.numbers(0, most_digits);
  const size_t i = first.code_point == ' ' ? 1 : 0;
  const size_t end = text.run(i, is_other);
  if (end > i) return text.run(end, is_tail);
  const size_t after_breaks = text.line_breaks(0);
  return after_breaks != kNoMatch ? after_breaks : text.spaces(0);
}

size_t cl100k_piece(const Matcher& text, int most_digits, bool trailing_spaces_whole) {
  if (const size_t end = text.contraction(0, true); end != kNoMatch) return end;
  const Character first = text.at(0);
  // [^\r\n\p{L}\p{N}]?\p{L}+
  const bool prefix = !is_letter(first) && !is_number(first) && !is_line_break(first);
  const size_t word = prefix ? first.size : 0;
  const size_t end = text.run(word, is_letter);
  if (end > word) return end;
  if (trailing_spaces_whole) {  // \s++$ before \s*[\r\n]
    const size_t run = text.run(0, is_space);
    if (run > 0 && text.at_end(run)) return run;
  }
  return number_other_or_space(text, most_digits, is_line_break);
}

// opens_word* ends_word+ as a backtracking engine finds it: the first part takes all it can, and
// when nothing is left for the second, gives back to the last character that may end a word.
size_t o200k_word(const Matcher& text, size_t begin) {
  size_t i = begin, after_last_ending = kNoMatch;
  while (!text.at_end(i)) {
    const Character c = text.at(i);
    if (!opens_word(c)) break;
    i += c.size;
    if (ends_word(c)) after_last_ending = i;
  }
  const size_t end = text.run(i, ends_word);
  return end > i ? end : after_last_ending;
}

size_t o200k_piece(const Matcher& text) {
  const Character first = text.at(0);
  const bool prefix = !is_letter(first) && !is_number(first) && !is_line_break(first);
  size_t end = kNoMatch;
  if (prefix) end = o200k_word(text, first.size);
  if (end == kNoMatch) end = o200k_word(text, 0);
  if (end ==
      kNoMatch) {  // [^\r\n\p{L}\p{N}]? opens_word+ (no ends_word follows, or it had matched)
    const size_t word = prefix ? first.size : 0;
    const size_t upper = text.run(word, opens_word);
    if (upper > word) end = upper;
  }
  if (end != kNoMatch) {
    const size_t contracted = text.contraction(end, true);
    return contracted != kNoMatch ? contracted : end;
  }
  return number_other_or_space(
      text, 3, [](const Character& c) { return is_line_break(c) || c.code_point == '/'; });
}

}  // namespace

size_t first_piece(Split split, std::string_view text) {
  const Matcher matcher(text);
  switch (split) {
    case Split::None:
      return text.size();
    case Split::Gpt2:
      return gpt2_piece(matcher);
    case Split::Cl100k:
      return cl100k_piece(matcher, 3, true);
    case Split::Llama3:
      return cl100k_piece(matcher, 3, false);
    case Split::Qwen2:
      return cl100k_piece(matcher, 1, false);
    case Split::Nanochat:
      return cl100k_piece(matcher, 2, false);
    case Split::O200k:
      return o200k_piece(matcher);
  }
  return text.size();
}

}  // namespace ingot
