#include "ingest/clean/filters/fineweb.h"

#include "core/text/python_text.h"
#include "core/text/unicode.h"
#include "core/text/utf8.h"
#include "ingest/clean/filters/duplicates.h"

namespace ingot {
namespace {

bool ends_with_mark(std::string_view line, CleanVersion version) {
  if (line.empty()) return false;
  const char32_t last = text::decode(text::previous_character(line.data() + line.size()));
  if (version == CleanVersion::Datatrove010) return text::has(last, text::kTerminal);
  return last == '.' || last == '\'' || last == '"' || last == '!' || last == '?';
}

bool is_at_most(std::string_view line, int64_t chars) {
  const auto limit = static_cast<size_t>(chars);
  return line.size() <= limit || (line.size() <= 4 * limit && text::length(line) <= limit);
}

// newlines / |words| > limit. Every run of non-whitespace holds a word, so counting enough of those
// spares the splitter its work.
bool has_too_many_newlines(std::string_view text, size_t newlines, double limit,
                           const Splitter& splitter, WordList& words) {
  const auto exceeds = [&](size_t num_words) {
    return static_cast<double>(newlines) / static_cast<double>(num_words) > limit;
  };
  size_t runs = 0;
  std::string_view rest = text, run;
  while (text::next_word(rest, run)) {
    if (!exceeds(++runs)) return false;
  }
  if (runs == 0) return true;  // no words: Python divides by zero
  splitter.words(text, words);
  return exceeds(words.words.size());
}

double ratio(size_t part, size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::string_view fineweb_quality(const FinewebSettings& s, CleanVersion version,
                                 std::string_view text, const Splitter& splitter,
                                 CleanScratch& scratch) {
  const bool is_v1 = version == CleanVersion::FinewebV1;
  std::vector<std::string_view>& filled = scratch.lines;  // lines that are not blank
  filled.clear();
  size_t num_lines = 0, num_ended = 0, num_short = 0, num_pieces = 0;
  std::string_view rest = text;
  for (std::string_view line; text::next_piece(rest, '\n', line);) {
    ++num_pieces;
    const bool is_blank = text::lstrip(line).empty();
    if (!is_blank) filled.push_back(line);
    if (is_blank && !is_v1) continue;
    ++num_lines;
    num_ended += ends_with_mark(line, version);
    num_short += is_at_most(line, s.short_line_chars);
  }
  if (num_lines == 0) return "empty";

  const double ended = ratio(num_ended, num_lines);
  const bool has_few_ends = is_v1 ? ended <= s.min_terminal_lines : ended < s.min_terminal_lines;
  if (has_few_ends && !(s.exempts_no_terminal_lines && num_ended == 0)) return "line_punct_ratio";

  const double shorts = ratio(num_short, num_lines);
  if (is_v1 ? shorts >= s.max_short_lines : shorts > s.max_short_lines) return "short_line_ratio";

  const size_t newlines = num_pieces - 1;
  const double dup =
      ratio(find_duplicates(filled, scratch.seen).chars, text::length(text) - newlines);
  if (is_v1 ? dup >= s.max_dup_line_chars : dup > s.max_dup_line_chars) return "char_dup_ratio";

  if (has_too_many_newlines(text, newlines, s.max_newlines_per_word, splitter, scratch.own_words)) {
    return "list_ratio";
  }
  return {};
}

std::unique_ptr<Filter> FinewebSettings::make(CleanFiles&) const {
  return filter_of(*this, [](const FinewebSettings& s, Passage& passage) {
    return fineweb_quality(s, passage.version, passage.text(), passage.splitter, passage.scratch);
  });
}

std::unique_ptr<FilterSettings> filter_fineweb() {
  return std::make_unique<FinewebSettings>();
}

}  // namespace ingot
