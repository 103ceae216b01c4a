#include "ingest/clean/filters/gopher_quality.h"

#include <algorithm>

#include "core/text/python_text.h"
#include "core/text/unicode.h"
#include "core/text/utf8.h"

namespace ingot {
namespace {

bool is_ascii_letter(char byte) {
  const auto lower = static_cast<unsigned char>(byte | 0x20);
  return lower >= 'a' && lower <= 'z';
}

struct Kinds {
  bool is_symbol;  // every character is in the symbol set
  bool has_alpha;
};

Kinds kinds_of(const Word& word, int symbols) {
  if (is_ascii_letter(word.data[0])) return {false, true};  // most words
  Kinds kinds{true, false};
  for (const char *p = word.data, *end = p + word.bytes; p != end;) {
    const uint16_t flags = text::properties_of(text::next_character(p));
    if ((flags & symbols) == 0) kinds.is_symbol = false;
    if ((flags & text::kAlpha) != 0) return {false, true};  // no letter is in the symbol set
  }
  return kinds;
}

struct WordCounts {
  size_t non_symbol = 0, non_symbol_chars = 0, alpha = 0;
};

WordCounts count_words(const std::vector<Word>& words, int symbols) {
  WordCounts counts;
  for (const Word& word : words) {
    const Kinds kinds = kinds_of(word, symbols);
    counts.alpha += kinds.has_alpha;
    if (kinds.is_symbol) continue;
    ++counts.non_symbol;
    counts.non_symbol_chars += word.chars;
  }
  return counts;
}

struct LineCounts {
  size_t all = 0, bullets = 0, ellipses = 0;
};

LineCounts count_lines(std::string_view text) {
  LineCounts counts;
  std::string_view line;
  while (text::next_line(text, line)) {
    ++counts.all;
    const std::string_view begin = text::lstrip(line), end = text::rstrip(line);
    counts.bullets += begin.starts_with("•") || begin.starts_with("-");
    counts.ellipses += end.ends_with("...") || end.ends_with("…");
  }
  return counts;
}

// Occurrences of stop words, or of how many of them there are any; no more than `enough` are
// counted.
int64_t count_stop_words(const std::vector<Word>& words, const std::vector<std::string>& stop_words,
                         bool distinct, int64_t enough) {
  std::vector<bool> seen(stop_words.size());
  size_t longest = 0;
  for (const std::string& stop_word : stop_words) longest = std::max(longest, stop_word.size());
  int64_t found = 0;
  for (const Word& word : words) {
    if (found >= enough) break;
    if (word.bytes > longest) continue;
    const auto place = std::find(stop_words.begin(), stop_words.end(), word.view());
    if (place == stop_words.end()) continue;
    const auto index = static_cast<size_t>(place - stop_words.begin());
    if (distinct && seen[index]) continue;
    seen[index] = true;
    ++found;
  }
  return found;
}

double ratio(size_t part, size_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::string_view gopher_quality(const GopherQualitySettings& s, CleanVersion version,
                                std::string_view text, const WordList& list) {
  const std::vector<Word>& words = list.words;
  const bool is_v1 = version == CleanVersion::FinewebV1;
  const int symbols = text::kPunctuation | (is_v1 ? 0 : text::kTerminal);
  const WordCounts counts = count_words(words, symbols);

  const auto non_symbol = static_cast<int64_t>(counts.non_symbol);
  if (s.min_words != 0 && non_symbol < s.min_words) return "gopher_short_doc";
  if (s.max_words != 0 && non_symbol > s.max_words) return "gopher_long_doc";
  if (words.empty()) return "empty";  // Python divides by zero

  if (counts.non_symbol != 0) {
    const double mean = ratio(counts.non_symbol_chars, counts.non_symbol);
    if (s.min_mean_word_chars != 0 && mean < s.min_mean_word_chars)
      return "gopher_below_avg_threshold";
    if (s.max_mean_word_chars != 0 && mean > s.max_mean_word_chars)
      return "gopher_above_avg_threshold";
  }

  const size_t n = words.size();
  if (s.max_symbols_per_word != 0) {
    if (ratio(text::count(text, "#"), n) > s.max_symbols_per_word) return "gopher_too_many_hashes";
    const size_t ellipses = text::count(text, "...") + text::count(text, "…");
    if (ratio(ellipses, n) > s.max_symbols_per_word) return "gopher_too_many_ellipsis";
  }

  const LineCounts lines = count_lines(text);
  if (s.max_bullet_lines != 0 && ratio(lines.bullets, lines.all) > s.max_bullet_lines) {
    return "gopher_too_many_bullets";
  }
  if (s.max_ellipsis_lines != 0 && ratio(lines.ellipses, lines.all) > s.max_ellipsis_lines) {
    return "gopher_too_many_end_ellipsis";
  }

  if (s.min_alpha_words != 0 && ratio(counts.alpha, n) < s.min_alpha_words) {
    return "gopher_below_alpha_threshold";
  }
  if (s.min_stop_words != 0 &&
      count_stop_words(words, s.stop_words, !is_v1, s.min_stop_words) < s.min_stop_words) {
    return "gopher_enough_stop_words";
  }
  return {};
}

void GopherQualitySettings::validate() const {
  expect_order("words", static_cast<double>(min_words), static_cast<double>(max_words));
  expect_order("mean_word_chars", min_mean_word_chars, max_mean_word_chars);
}

std::unique_ptr<Filter> GopherQualitySettings::make(CleanFiles&) const {
  return filter_of(*this, [](const GopherQualitySettings& s, Passage& passage) {
    return gopher_quality(s, passage.version, passage.text(), passage.words());
  });
}

std::unique_ptr<FilterSettings> filter_gopher_quality() {
  return std::make_unique<GopherQualitySettings>();
}

}  // namespace ingot
