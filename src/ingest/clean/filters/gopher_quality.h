// Gopher's rules on what reads as prose.
#pragma once

#include "ingest/clean/filter.h"

namespace ingot {

struct GopherQualitySettings final : DeclaredFilter<GopherQualitySettings> {
  GopherQualitySettings()
      : DeclaredFilter("gopher_quality", "remove what does not read as prose", true) {}

  int64_t min_words = 50, max_words = 100'000;
  double min_mean_word_chars = 3, max_mean_word_chars = 10;
  double max_symbols_per_word = 0.1;
  double max_bullet_lines = 0.9, max_ellipsis_lines = 0.3;
  double min_alpha_words = 0.8;
  int64_t min_stop_words = 2;
  std::vector<std::string> stop_words{"the", "be", "to", "of", "and", "that", "have", "with"};

  std::vector<Setting> declare() override;
  void validate() const override;
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

// `words` are the splitter's of the text.
std::string_view gopher_quality(const GopherQualitySettings& settings, CleanVersion version,
                                std::string_view text, const WordList& words);

}  // namespace ingot
