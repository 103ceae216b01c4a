#include "ingest/clean/splitters/split_whitespace.h"

#include "core/text/python_text.h"

namespace ingot {

void WhitespaceSplitter::words(std::string_view text, WordList& words) const {
  words.clear();
  std::string_view word;
  while (text::next_word(text, word)) words.add(word);
}

void WhitespaceSplitter::sentence_ends(std::string_view text, std::vector<size_t>& ends) const {
  ends.clear();
  const char* begin = text.data();
  size_t last_end = 0;
  bool is_open = false;  // words since the last end
  std::string_view word;
  while (text::next_word(text, word)) {
    last_end = static_cast<size_t>(word.data() + word.size() - begin);
    is_open = word.find_last_of(".!?") != word.size() - 1;
    if (!is_open) ends.push_back(last_end);
  }
  if (is_open) ends.push_back(last_end);
}

}  // namespace ingot
