#include "ingest/clean/splitters/split_by_script.h"

#include <algorithm>
#include <utility>

#include "core/text/unicode.h"
#include "core/text/utf8.h"

namespace ingot {
namespace {

constexpr std::string_view kWithoutSpaces[] = {"Hani", "Hira", "Kana", "Thai",
                                               "Laoo", "Khmr", "Mymr", "Tibt"};

// All characters of these scripts take three bytes or four in UTF-8: most text has none such.
bool may_lack_spaces(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0xE0; });
}

}  // namespace

ScriptSplitter::ScriptSplitter() {
  for (const std::string_view name : text::script_names()) {
    script_lacks_spaces_.push_back(std::find(std::begin(kWithoutSpaces), std::end(kWithoutSpaces),
                                             name) != std::end(kWithoutSpaces));
  }
}

bool ScriptSplitter::lacks_spaces(std::string_view word) const {
  if (!may_lack_spaces(word)) return false;
  for (const char *p = word.data(), *end = p + word.size(); p != end;) {
    if (script_lacks_spaces_[text::script_of(text::next_character(p))]) return true;
  }
  return false;
}

void ScriptSplitter::words(std::string_view text, WordList& words) const {
  spacy_.words(text, words);
  if (!may_lack_spaces(text)) return;
  const std::vector<Word> coarse = std::exchange(words.words, {});
  WordList fine;
  for (const Word& word : coarse) {
    if (!lacks_spaces(word.view())) {
      words.words.push_back(word);
      continue;
    }
    uax29_.words(word.view(), fine);
    words.words.insert(words.words.end(), fine.words.begin(), fine.words.end());
  }
}

void ScriptSplitter::sentence_ends(std::string_view text, std::vector<size_t>& ends) const {
  spacy_.sentence_ends(text, ends);
}

}  // namespace ingot
