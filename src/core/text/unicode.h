// Character properties as in CPython 3.11: Unicode 14.0, pinned by tables in the source, so that
// results depend on no library of the machine.
//
// The reference programs use different Unicode versions, so there are three:
//   14.0  datatrove and NLTK, which are Python: cleaning, deduplication (this header)
//   16.0  the regular expressions of Hugging Face tokenizers and tiktoken: pre-tokenizers
//         (tokenizer/unicode/unicode_classes.h)
//   9.0   the normalizers of Hugging Face tokenizers; their lower case is of 17.0
//         (tokenizer/unicode/hf_unicode.h, nfc.h)
// All tables are runs of code points, looked up through CodePointMap. Those of 16.0 are read for
// every character to encode and are compiled into that form.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/text/code_point_map.h"

namespace ingot::text {

inline constexpr std::string_view kUnicodeVersion = "14.0.0";

// Bits of properties_of(), in the order of tools/make_unicode_tables.py.
enum Property : uint16_t {
  kSpace = 1 << 0,      // str.isspace, \s: not White_Space, which lacks U+001C..001F
  kLineBreak = 1 << 1,  // where str.splitlines breaks
  kAlpha = 1 << 2,      // str.isalpha: category L
  kDigit = 1 << 3,      // \d: category Nd
  kNonspacingMark = 1 << 4,
  kCategoryP = 1 << 5,
  kWordCharacter = 1 << 6,  // \w
  kCased = 1 << 7,          // and not case-ignorable
  kCaseIgnorable = 1 << 8,
  kPunctuation = 1 << 9,   // datatrove's PUNCTUATION, 129 characters
  kTerminal = 1 << 10,     // datatrove's TERMINAL_PUNCTUATION, 159
  kSentenceEnd = 1 << 11,  // spaCy's sentencizer, 128
  kUpper = 1 << 12,        // str.isupper
  kLower = 1 << 13,        // str.islower
};

const CodePointMap<uint16_t>& properties();
inline uint16_t properties_of(char32_t code) {
  static const CodePointMap<uint16_t>& map = properties();
  return map[code];
}
inline bool has(char32_t code, int any_of) {
  return (properties_of(code) & any_of) != 0;
}

// The simple lower-case mapping. Returns U+0130 unchanged: str.lower makes two characters of it.
char32_t simple_lower(char32_t code);

// Canonical combining class, and the full canonical decomposition (empty: the character itself).
// Hangul syllables have a decomposition too, computed into `buffer`.
uint8_t combining_class(char32_t code);
std::span<const char32_t> decomposition(char32_t code, std::span<char32_t, 3> buffer);

// Word_Break of UAX #29, in this order; Extended_Pictographic is separate.
enum class WordBreak : uint8_t {
  Other,
  Cr,
  Lf,
  Newline,
  Extend,
  Zwj,
  RegionalIndicator,
  Format,
  Katakana,
  HebrewLetter,
  ALetter,
  SingleQuote,
  DoubleQuote,
  MidNumLet,
  MidLetter,
  MidNum,
  Numeric,
  ExtendNumLet,
  WSegSpace
};
struct WordBreakClass {
  WordBreak word_break;
  bool is_pictographic;
};
WordBreakClass word_break_class(char32_t code);

// ISO 15924 codes of the scripts we distinguish; the first, "Zyyy", stands for all others.
// script_of returns an index into them.
std::span<const std::string_view> script_names();
uint8_t script_of(char32_t code);

}  // namespace ingot::text
