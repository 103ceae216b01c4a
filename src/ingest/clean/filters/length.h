// Rules of our own on characters and whitespace-separated words, for texts that the other rules do
// not fit.
#pragma once

#include "ingest/clean/filter.h"

namespace ingot {

#include "spec/settings/fields.h"

// A limit of 0 disables its rule.
struct LengthSettings final : DeclaredFilter<LengthSettings> {
  LengthSettings() : DeclaredFilter("length", "rules of our own on characters and words", false) {}

#include "ingest/clean/filters/length.def"

  std::vector<Setting> declare() override;
  void validate() const override;
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

#include "spec/settings/end.h"

std::string_view length_rules(const LengthSettings& settings, std::string_view text);

}  // namespace ingot
