#include "ingest/clean/filters/length.h"

#include "core/error/error.h"
#include "core/text/python_text.h"
#include "core/text/unicode.h"
#include "core/text/utf8.h"

namespace ingot {

std::string_view length_rules(const LengthSettings& s, std::string_view text) {
  int64_t chars = 0, spaces = 0, letters = 0, digits = 0, words = 0;
  bool in_word = false;
  for (const char *p = text.data(), *end = p + text.size(); p != end; ++chars) {
    const uint16_t flags = text::properties_of(text::next_character(p));
    const bool is_space = (flags & text::kSpace) != 0;
    spaces += is_space;
    letters += (flags & text::kAlpha) != 0;
    digits += (flags & text::kDigit) != 0;
    words += !is_space && !in_word;
    in_word = !is_space;
  }
  const int64_t visible = chars - spaces;
  if (chars < s.min_chars) return "too_few_characters";
  if (s.max_chars != 0 && chars > s.max_chars) return "too_many_characters";
  if (words < s.min_words) return "too_few_words";
  if (s.max_words != 0 && words > s.max_words) return "too_many_words";
  if (words == 0) return "empty";
  const auto share = [](int64_t part, int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  if (share(visible, words) < s.min_mean_word_chars) return "words_too_short";
  if (s.max_mean_word_chars != 0 && share(visible, words) > s.max_mean_word_chars)
    return "words_too_long";
  if (share(letters, visible) < s.min_alpha_share) return "too_few_letters";
  if (s.max_symbol_share != 0 && share(visible - letters - digits, visible) > s.max_symbol_share) {
    return "too_many_symbols";
  }
  return {};
}

void LengthSettings::validate() const {
  expect_order("chars", static_cast<double>(min_chars), static_cast<double>(max_chars));
  expect_order("words", static_cast<double>(min_words), static_cast<double>(max_words));
  expect_order("mean_word_chars", min_mean_word_chars, max_mean_word_chars);
}

std::unique_ptr<Filter> LengthSettings::make(CleanFiles&) const {
  const bool has_limit = min_chars > 0 || max_chars > 0 || min_words > 0 || max_words > 0 ||
                         min_mean_word_chars > 0 || max_mean_word_chars > 0 ||
                         min_alpha_share > 0 || max_symbol_share > 0;
  check(has_limit, ErrorCode::Config,
        "length.enabled: expected a limit, got none: set length.min_chars, length.max_words or "
        "another of its options");
  return filter_of(*this, [](const LengthSettings& s, Passage& passage) {
    return length_rules(s, passage.text());
  });
}

std::unique_ptr<FilterSettings> filter_length() {
  return std::make_unique<LengthSettings>();
}

}  // namespace ingot
