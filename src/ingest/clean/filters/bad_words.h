// C4's bad-word filter, with a list from outside.
#pragma once

#include <string>
#include <string_view>

#include "ingest/clean/filters/aho_corasick.h"
#include "ingest/clean/settings.h"

namespace ingot {

class BadWords {
 public:
  // `list` has one word or phrase a line (the LDNOOBW lists have no others). Words that mC4 allows
  // in every language are taken out: sm, グロ, 女の子, 性.
  BadWords(const BadWordsSettings& settings, std::string_view list);

  // The reason, or an empty view. `id` decides which of the documents with bad words are kept.
  std::string_view filter(std::string_view id, std::string_view text, std::string& lowered) const;

 private:
  BadWordsSettings settings_;
  AhoCorasick words_;
};

}  // namespace ingot
