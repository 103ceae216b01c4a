// Words in the way of the script that they are written in.
#pragma once

#include <vector>

#include "ingest/clean/splitters/split_spacy.h"
#include "ingest/clean/splitters/split_uax29.h"

namespace ingot {

// spaCy's words; those with characters of a script that has no spaces between words (Chinese,
// Japanese, Thai, Lao, Khmer, Burmese, Tibetan) are cut further by UAX #29, which makes most such
// characters words of their own. Text without them has spaCy's words and no others.
class ScriptSplitter final : public Splitter {
 public:
  ScriptSplitter();
  void words(std::string_view text, WordList& words) const override;
  void sentence_ends(std::string_view text, std::vector<size_t>& ends) const override;

 private:
  bool lacks_spaces(std::string_view word) const;

  SpacySplitter spacy_;
  Uax29Splitter uax29_;
  std::vector<bool> script_lacks_spaces_;  // by text::script_of()
};

}  // namespace ingot
