// C4's rules on lines, and on documents of which few sentences are left.
#pragma once

#include "ingest/clean/filter.h"

namespace ingot {

struct C4Settings final : DeclaredFilter<C4Settings> {
  C4Settings() : DeclaredFilter("c4", "drop lines, and documents with few sentences left", true) {}

  bool by_sentence = false;  // rules on sentences, not on lines
  bool removes_citations = true;
  bool needs_terminal_mark = true;
  int64_t max_word_chars = 1000;  // -1: off
  int64_t min_line_words = 3;     // -1: off
  int64_t min_sentences = 5;      // -1: off
  bool drops_lorem_ipsum = true, drops_javascript = true, drops_curly_bracket = true,
       drops_policy = true;

  std::vector<Setting> declare() override;
  void apply_preset(CleanVersion) override { needs_terminal_mark = false; }  // as FineWeb
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

// Where it passes, scratch.rewritten is the text with the lines that were kept. Adds to `counts`.
std::string_view c4_quality(const C4Settings& settings, CleanVersion version, std::string_view text,
                            const Splitter& splitter, CleanScratch& scratch, C4LineCounts& counts);

}  // namespace ingot
