#include "ingest/clean/splitters/split_uax29.h"

#include "core/text/python_text.h"
#include "core/text/unicode.h"
#include "core/text/utf8.h"
#include "ingest/clean/splitters/split_whitespace.h"

namespace ingot {
namespace {

using text::WordBreak;

bool is_ignored(WordBreak c) {  // WB4
  return c == WordBreak::Extend || c == WordBreak::Format || c == WordBreak::Zwj;
}
bool is_letter(WordBreak c) {
  return c == WordBreak::ALetter || c == WordBreak::HebrewLetter;
}
bool is_letter_middle(WordBreak c) {
  return c == WordBreak::MidLetter || c == WordBreak::MidNumLet || c == WordBreak::SingleQuote;
}
bool is_number_middle(WordBreak c) {
  return c == WordBreak::MidNum || c == WordBreak::MidNumLet || c == WordBreak::SingleQuote;
}

// The class of the first character from p on that is not ignored; Other at the end.
WordBreak next_class(const char* p, const char* end) {
  while (p != end) {
    const WordBreak c = text::word_break_class(text::next_character(p)).word_break;
    if (!is_ignored(c)) return c;
  }
  return WordBreak::Other;
}

// The state of a walk along the boundaries of a chunk without whitespace, hence without WB3a, 3b
// and 3d.
struct Walk {
  WordBreak before = WordBreak::Other;         // the character before, those ignored passed over
  WordBreak second_before = WordBreak::Other;  // and the one before that
  bool after_joiner = false;                   // ZWJ stands directly before
  int regional_indicators = 0;                 // in a row before

  // Is there no boundary before a character of class `c` at p?
  bool joins(text::WordBreakClass c, const char* after, const char* end) const {
    const WordBreak now = c.word_break;
    if (after_joiner && c.is_pictographic) return true;  // WB3c
    if (is_ignored(now)) return true;                    // WB4
    const bool letter = is_letter(now);
    if (is_letter(before) && letter) return true;  // WB5
    if (is_letter(before) && is_letter_middle(now) && is_letter(next_class(after, end)))
      return true;                                                                        // WB6
    if (is_letter(second_before) && is_letter_middle(before) && letter) return true;      // WB7
    if (before == WordBreak::HebrewLetter && now == WordBreak::SingleQuote) return true;  // WB7a
    if (before == WordBreak::HebrewLetter && now == WordBreak::DoubleQuote &&
        next_class(after, end) == WordBreak::HebrewLetter) {
      return true;  // WB7b
    }
    if (second_before == WordBreak::HebrewLetter && before == WordBreak::DoubleQuote &&
        now == WordBreak::HebrewLetter) {
      return true;  // WB7c
    }
    const bool number = now == WordBreak::Numeric;
    if (number && (before == WordBreak::Numeric || is_letter(before))) return true;  // WB8, WB9
    if (before == WordBreak::Numeric && letter) return true;                         // WB10
    if (second_before == WordBreak::Numeric && is_number_middle(before) && number)
      return true;  // WB11
    if (before == WordBreak::Numeric && is_number_middle(now) &&
        next_class(after, end) == WordBreak::Numeric) {
      return true;  // WB12
    }
    if (before == WordBreak::Katakana && now == WordBreak::Katakana) return true;  // WB13
    const auto takes_underscore = [](WordBreak side) {
      return is_letter(side) || side == WordBreak::Numeric || side == WordBreak::Katakana;
    };
    if (now == WordBreak::ExtendNumLet) {
      return takes_underscore(before) || before == WordBreak::ExtendNumLet;  // WB13a
    }
    if (before == WordBreak::ExtendNumLet && takes_underscore(now)) return true;  // WB13b
    return now == WordBreak::RegionalIndicator && regional_indicators % 2 == 1;   // WB15, WB16
  }

  void pass(WordBreak now) {
    after_joiner = now == WordBreak::Zwj;
    if (is_ignored(now)) return;
    second_before = before;
    before = now;
    regional_indicators = now == WordBreak::RegionalIndicator ? regional_indicators + 1 : 0;
  }
};

}  // namespace

void Uax29Splitter::words(std::string_view text, WordList& words) const {
  words.clear();
  std::string_view chunk;
  while (text::next_word(text, chunk)) {
    const char *begin = chunk.data(), *end = begin + chunk.size();
    Walk walk;
    for (const char* p = begin; p != end;) {
      const char* here = p;
      const auto c = text::word_break_class(text::next_character(p));
      if (here != begin && !walk.joins(c, p, end)) {
        words.add({begin, static_cast<size_t>(here - begin)});
        begin = here;
      }
      walk.pass(c.word_break);
    }
    words.add({begin, static_cast<size_t>(end - begin)});
  }
}

void Uax29Splitter::sentence_ends(std::string_view text, std::vector<size_t>& ends) const {
  WhitespaceSplitter().sentence_ends(text, ends);
}

}  // namespace ingot
