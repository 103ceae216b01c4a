// Gopher's quality rules, which select prose.
#pragma once

#include "ingest/clean/filter.h"

namespace ingot {

#include "spec/settings/fields.h"

struct GopherQualitySettings final : DeclaredFilter<GopherQualitySettings> {
  GopherQualitySettings()
      : DeclaredFilter("gopher_quality", "remove what does not read as prose", true) {}

#include "ingest/clean/filters/gopher_quality.def"

  std::vector<Setting> declare() override;
  void validate() const override;
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

#include "spec/settings/end.h"

// `words` are the splitter's words of the text.
std::string_view gopher_quality(const GopherQualitySettings& settings, CleanVersion version,
                                std::string_view text, const WordList& words);

}  // namespace ingot
