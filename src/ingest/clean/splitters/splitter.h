// Splits a text into words and sentences. The splitter is a part of a preset: the same rule with
// another splitter keeps other documents.
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

// Words in order: views of the text or, if a splitter rewrites it, of `rewritten`.
struct WordList {
  std::vector<Word> words;
  std::string rewritten;

  void clear() {
    words.clear();
    rewritten.clear();
  }
  void add(std::string_view word);
};

// Texts are valid UTF-8 of less than 4 GiB. Splitters have no state: any number of threads may
// share one. Both functions take linear time and overwrite their last argument.
class Splitter {
 public:
  virtual ~Splitter() = default;

  // Without whitespace, never empty, in order.
  virtual void words(std::string_view text, WordList& words) const = 0;
  // The end of each sentence in bytes, in order; only whitespace follows the last end. Whether an
  // empty sentence counts is up to the caller.
  virtual void sentence_ends(std::string_view text, std::vector<size_t>& ends) const = 0;
};

// Parameters of NLTK's Punkt, trained on English text: the files of nltk_data's punkt_tab/english.
// They are not part of Ingot.
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
// Throws Config for another name or if `punkt` is missing, Data for invalid Punkt files.
std::unique_ptr<const Splitter> make_splitter(std::string_view name,
                                              const PunktFiles* punkt = nullptr);

}  // namespace ingot
