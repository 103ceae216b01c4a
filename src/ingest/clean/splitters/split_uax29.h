// Words by Unicode's default word boundaries.
#pragma once

#include "ingest/clean/splitters/splitter.h"

namespace ingot {

// Whitespace (Python's) always ends a word; UAX #29 alone would let U+202F join two words.
// Punctuation marks are words of their own.
class Uax29Splitter final : public Splitter {
 public:
  void words(std::string_view text, WordList& words) const override;
  void sentence_ends(std::string_view text, std::vector<size_t>& ends) const override;
};

}  // namespace ingot
