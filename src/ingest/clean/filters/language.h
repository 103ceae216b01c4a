// Keeps documents of some languages.
#pragma once

#include "ingest/clean/filter.h"

namespace ingot {

struct LanguageSettings final : DeclaredFilter<LanguageSettings> {
  LanguageSettings() : DeclaredFilter("language", "keep documents of some languages", false) {}

  std::vector<std::string> languages;  // empty: any
  double min_score = 0.65;             // must be exceeded
  std::string model;                   // fastText's .bin; empty: the built-in script detector
  // Only the best label counts, and newlines are dropped, not made spaces.
  bool as_datatrove_0_2 = false;

  std::vector<Setting> declare() override;
  void apply_preset(CleanVersion version) override;
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

}  // namespace ingot
