// Rules of our own on characters and whitespace-separated words, for texts that the other rules do
// not fit.
#pragma once

#include "ingest/clean/filter.h"
#include "ingest/clean/filters/fields.h"

namespace ingot {

// A limit of 0 disables its rule.
struct LengthSettings final : DeclaredFilter<LengthSettings, LengthFields> {
  void validate() const override;
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

std::string_view length_rules(const LengthSettings& settings, std::string_view text);

}  // namespace ingot
