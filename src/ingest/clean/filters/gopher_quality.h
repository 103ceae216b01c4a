// Gopher's quality rules, which select prose.
#pragma once

#include "ingest/clean/filter.h"
#include "ingest/clean/filters/fields.h"

namespace ingot {

struct GopherQualitySettings final : DeclaredFilter<GopherQualitySettings, GopherQualityFields> {
  void validate() const override;
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

// `words` are the splitter's words of the text.
std::string_view gopher_quality(const GopherQualitySettings& settings, CleanVersion version,
                                std::string_view text, const WordList& words);

}  // namespace ingot
