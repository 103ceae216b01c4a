#include "ingest/clean/filters/c4_paragraph.h"

#include "core/text/python_text.h"

namespace ingot {

std::string_view c4_paragraphs(const C4ParagraphSettings& settings, std::string_view text) {
  int64_t long_lines = 0, lines = 0;
  for (std::string_view line; text::next_piece(text, '\n', line);) {
    ++lines;
    long_lines += static_cast<int64_t>(text::length(line)) >= settings.min_paragraph_chars;
  }
  // The third longest line is long enough just when three are.
  const bool passes = lines >= settings.min_paragraphs && long_lines >= 3;
  return passes ? std::string_view() : "< 3 paragraphs";
}

std::unique_ptr<Filter> C4ParagraphSettings::make(CleanFiles&) const {
  return filter_of(*this, [](const C4ParagraphSettings& s, Passage& passage) {
    return c4_paragraphs(s, passage.text());
  });
}

std::unique_ptr<FilterSettings> filter_c4_paragraph() {
  return std::make_unique<C4ParagraphSettings>();
}

}  // namespace ingot
