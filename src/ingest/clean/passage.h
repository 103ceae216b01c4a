// A document while it passes through the filters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/clean/counts.h"
#include "ingest/clean/filters/hash_tables.h"
#include "ingest/clean/filters/n_grams.h"
#include "ingest/clean/splitters/splitter.h"
#include "ingest/document.h"

namespace ingot {

// The datatrove release whose formulas are used, where releases differ (docs/ingest-cleaning.md).
enum class CleanVersion { FinewebV1, Datatrove010 };

// A worker's scratch memory, reused for every document.
struct CleanScratch {
  WordList words, own_words;
  NGrams n_grams;
  HashSet seen;
  HashCounter counter;
  std::vector<uint32_t> counters, slots, repeated;  // gopher_repetition's
  std::vector<uint8_t> marks;
  std::vector<std::string_view> lines;
  std::vector<size_t> sentence_ends;
  std::vector<float> scores;
  std::string lowered, line, rewritten, text;
};

class Passage {
 public:
  Passage(Document& to_judge, CleanVersion formulas, const Splitter& splits, CleanScratch& memory,
          CleanCounts& all_counts)
      : document(to_judge),
        version(formulas),
        splitter(splits),
        scratch(memory),
        counts(all_counts),
        text_(to_judge.text) {}

  Document& document;  // with its original text; text() is the filters' output
  const CleanVersion version;
  const Splitter& splitter;
  CleanScratch& scratch;
  CleanCounts& counts;
  C4LineCounts lines{};  // C4's line counts of this document

  std::string_view text() const { return text_; }  // valid UTF-8
  bool is_rewritten() const { return is_rewritten_; }

  // The splitter's words of text().
  const WordList& words() {
    if (!has_words_) splitter.words(text_, scratch.words);
    has_words_ = true;
    return scratch.words;
  }

  // Makes scratch.rewritten the new text().
  void rewrite() {
    scratch.text.swap(scratch.rewritten);
    text_ = scratch.text;
    is_rewritten_ = true;
    has_words_ = false;
  }

 private:
  std::string_view text_;
  bool is_rewritten_ = false, has_words_ = false;
};

}  // namespace ingot
