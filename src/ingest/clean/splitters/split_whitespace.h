// Words as in str.split(); sentences end before whitespace.
#pragma once

#include "ingest/clean/splitters/splitter.h"

namespace ingot {

class WhitespaceSplitter final : public Splitter {
 public:
  void words(std::string_view text, WordList& words) const override;
  // A sentence ends before whitespace that follows . ! or ?
  void sentence_ends(std::string_view text, std::vector<size_t>& ends) const override;
};

}  // namespace ingot
