// C4's rule on paragraphs.
#pragma once

#include "ingest/clean/filter.h"

namespace ingot {

#include "spec/settings/fields.h"

struct C4ParagraphSettings final : DeclaredFilter<C4ParagraphSettings> {
  C4ParagraphSettings() : DeclaredFilter("c4_paragraph", "documents need long paragraphs", false) {}

#include "ingest/clean/filters/c4_paragraph.def"

  std::vector<Setting> declare() override;
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

#include "spec/settings/end.h"

std::string_view c4_paragraphs(const C4ParagraphSettings& settings, std::string_view text);

}  // namespace ingot
