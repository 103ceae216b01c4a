// C4's bad-word filter with an external list.
#pragma once

#include <string>
#include <string_view>

#include "ingest/clean/filter.h"
#include "ingest/clean/filters/aho_corasick.h"
#include "ingest/clean/filters/fields.h"

namespace ingot {

struct BadWordsSettings final : DeclaredFilter<BadWordsSettings, BadWordsFields> {
  uint64_t seed = 0;

  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

class BadWords final : public Filter {
 public:
  // `list` has one word or phrase per line, like the LDNOOBW lists. Words that mC4 allows in every
  // language are removed from it: sm, グロ, 女の子, 性.
  BadWords(const BadWordsSettings& settings, std::string_view list);

  std::string_view judge(Passage& passage) const override;

  // The reason, or an empty view. `id` selects which of the documents with bad words are kept.
  std::string_view filter(std::string_view id, std::string_view text, std::string& lowered) const;

 private:
  BadWordsSettings settings_;
  AhoCorasick words_;
};

}  // namespace ingot
