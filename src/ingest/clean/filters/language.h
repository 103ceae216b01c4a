// Keeps documents in selected languages.
#pragma once

#include "ingest/clean/filter.h"

namespace ingot {

#include "spec/settings/fields.h"

struct LanguageSettings final : DeclaredFilter<LanguageSettings> {
  LanguageSettings() : DeclaredFilter("language", "keep documents of some languages", false) {}

#include "ingest/clean/filters/language.def"

  std::vector<Setting> declare() override;
  void apply_preset(CleanVersion version) override;
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

#include "spec/settings/end.h"

}  // namespace ingot
