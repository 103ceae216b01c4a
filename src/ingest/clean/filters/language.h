// Keeps documents in selected languages.
#pragma once

#include "ingest/clean/filter.h"
#include "ingest/clean/filters/fields.h"

namespace ingot {

struct LanguageSettings final : DeclaredFilter<LanguageSettings, LanguageFields> {
  void apply_preset(CleanVersion version) override;
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

}  // namespace ingot
