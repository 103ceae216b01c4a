// C4's rule on paragraphs.
#pragma once

#include "ingest/clean/filter.h"
#include "ingest/clean/filters/fields.h"

namespace ingot {

struct C4ParagraphSettings final : DeclaredFilter<C4ParagraphSettings, C4ParagraphFields> {
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

std::string_view c4_paragraphs(const C4ParagraphSettings& settings, std::string_view text);

}  // namespace ingot
