// spaCy's rule-based English tokenizer and its sentencizer.
#pragma once

#include "ingest/clean/splitters/splitter.h"

namespace ingot {

class SpacySplitter final : public Splitter {
 public:
  void words(std::string_view text, WordList& words) const override;
  void sentence_ends(std::string_view text, std::vector<size_t>& ends) const override;
};

}  // namespace ingot
