// Gopher's rules on repetition.
#pragma once

#include "ingest/clean/filter.h"
#include "ingest/clean/filters/fields.h"

namespace ingot {

inline constexpr int kMaxNGram = 10;

// In a list of limits n increases.
struct NGramLimit {
  int n;             // 1 to kMaxNGram
  double max_share;  // of the text's characters
};

struct GopherRepetitionSettings final
    : DeclaredFilter<GopherRepetitionSettings, GopherRepetitionFields> {
  std::vector<NGramLimit> top_n_grams{{2, 0.2}, {3, 0.18}, {4, 0.16}};
  std::vector<NGramLimit> dup_n_grams{{5, 0.15}, {6, 0.14}, {7, 0.13},
                                      {8, 0.12}, {9, 0.11}, {10, 0.1}};

  std::vector<Setting> declare() override;
  void validate() const override;
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

// `words` are the splitter's words of the text.
std::string_view gopher_repetition(const GopherRepetitionSettings& settings, std::string_view text,
                                   const WordList& words, CleanScratch& scratch);

}  // namespace ingot
