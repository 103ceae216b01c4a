// NLTK 3.8.1's word_tokenize: Punkt's sentences, then NLTK's extended Treebank rules.
#pragma once

#include "ingest/clean/splitters/punkt.h"
#include "ingest/clean/splitters/splitter.h"

namespace ingot {

class NltkSplitter final : public Splitter {
 public:
  explicit NltkSplitter(const PunktFiles& files) : punkt_(files) {}

  void words(std::string_view text, WordList& words) const override;
  void sentence_ends(std::string_view text, std::vector<size_t>& ends) const override;

 private:
  Punkt punkt_;
};

}  // namespace ingot
