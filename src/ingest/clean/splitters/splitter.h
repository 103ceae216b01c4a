// Cutting a text into words and sentences. Which splitter is used is part of a preset: the same
// rule with another splitter keeps other documents.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

struct Word {
  const char* data;
  uint32_t bytes;
  uint32_t chars;  // code points

  std::string_view view() const { return {data, bytes}; }
};

// Words in order: views of the text or, where a splitter rewrites it, of `rewritten`.
struct WordList {
  std::vector<Word> words;
  std::string rewritten;

  void clear() {
    words.clear();
    rewritten.clear();
  }
  void add(std::string_view word);
};

// Texts are valid UTF-8 of less than 4 GiB. Splitters hold no state: any number of threads may
// share one. Both calls take time in proportion to the text and overwrite their last argument.
class Splitter {
 public:
  virtual ~Splitter() = default;

  // Without whitespace, never empty, in order.
  virtual void words(std::string_view text, WordList& words) const = 0;
  // Where each sentence ends, in bytes, in order; what follows the last end is whitespace. Whether
  // an empty sentence counts is up to the caller.
  virtual void sentence_ends(std::string_view text, std::vector<size_t>& ends) const = 0;
};

// What NLTK's Punkt learnt from English text, as the files of nltk_data's punkt_tab/english hold
// it. It is not part of Ingot.
struct PunktFiles {
  std::string abbreviations;      // abbrev_types.txt
  std::string collocations;       // collocations.tab
  std::string sentence_starters;  // sent_starters.txt
  std::string contexts;           // ortho_context.tab
};

inline constexpr std::string_view kSplitterNames[] = {"auto", "whitespace", "uax29", "spacy-en",
                                                      "nltk-en"};

// `auto`:       spacy-en, but uax29 for words in scripts without spaces (split_by_script.h)
// `whitespace`: str.split(); a sentence ends before whitespace that follows . ! or ?
// `uax29`:      words of Unicode 14's UAX #29; sentences as for whitespace
// `spacy-en`:   spaCy 3.8's blank("en") with its sentencizer
// `nltk-en`:    NLTK 3.8.1's word_tokenize and sent_tokenize; needs `punkt`
// Throws Config for another name or without `punkt` where it is needed, Data for files that are not
// Punkt's.
std::unique_ptr<const Splitter> make_splitter(std::string_view name,
                                              const PunktFiles* punkt = nullptr);

}  // namespace ingot
