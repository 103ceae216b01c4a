// Rules of our own on characters and whitespace-separated words, for texts the others do not fit.
#pragma once

#include "ingest/clean/filter.h"

namespace ingot {

// Limits that are 0 switch their rule off.
struct LengthSettings final : DeclaredFilter<LengthSettings> {
  LengthSettings() : DeclaredFilter("length", "rules of our own on characters and words", false) {}

  int64_t min_chars = 0, max_chars = 0;
  int64_t min_words = 0, max_words = 0;
  double min_mean_word_chars = 0, max_mean_word_chars = 0;
  double min_alpha_share = 0;   // letters among characters that are not whitespace
  double max_symbol_share = 0;  // neither letter nor digit, among the same

  std::vector<Setting> declare() override;
  void validate() const override;
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

std::string_view length_rules(const LengthSettings& settings, std::string_view text);

}  // namespace ingot
