// Splits words by the rules of their script.
#pragma once

#include <vector>

#include "ingest/clean/splitters/split_spacy.h"
#include "ingest/clean/splitters/split_uax29.h"

namespace ingot {

// spaCy's words. Words with characters of a script without spaces between words (Chinese, Japanese,
// Thai, Lao, Khmer, Burmese, Tibetan) are split further by UAX #29, which makes most such
// characters words of their own. Text without such characters gives exactly spaCy's words.
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
