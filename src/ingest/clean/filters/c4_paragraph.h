// C4's rule on paragraphs.
#pragma once

#include "ingest/clean/filter.h"

namespace ingot {

struct C4ParagraphSettings final : DeclaredFilter<C4ParagraphSettings> {
  C4ParagraphSettings() : DeclaredFilter("c4_paragraph", "documents need long paragraphs", false) {}

  int64_t min_paragraphs = 3, min_paragraph_chars = 200;

  std::vector<Setting> declare() override;
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

std::string_view c4_paragraphs(const C4ParagraphSettings& settings, std::string_view text);

}  // namespace ingot
