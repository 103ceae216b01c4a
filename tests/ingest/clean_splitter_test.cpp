#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "ingest/clean/splitters/splitter.h"
#include "ingest/clean_punkt.h"
#include "support/files.h"
#include "support/source_path.h"

namespace ingot {
namespace {

using testing_support::error_of;
using testing_support::punkt_files;

using Pieces = std::vector<std::string>;

std::unique_ptr<const Splitter> splitter(const std::string& name) {
  const PunktFiles punkt = punkt_files();
  return make_splitter(name, &punkt);
}

Pieces words_of(const Splitter& splitter, const std::string& text) {
  WordList list;
  splitter.words(text, list);
  Pieces words;
  for (const Word& word : list.words) {
    words.emplace_back(word.view());
    size_t chars = 0;
    for (const char byte : words.back()) chars += (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
    EXPECT_EQ(word.chars, chars);
  }
  return words;
}

std::vector<size_t> ends_of(const Splitter& splitter, const std::string& text) {
  std::vector<size_t> ends;
  splitter.sentence_ends(text, ends);
  return ends;
}

// Hard strings, as spaCy 3.8, NLTK 3.8.1 and Perl's UAX #29 split them.
TEST(CleanSplitter, SplitsAsTheOriginalsDo) {
  std::ifstream golden(testing_support::source_path("tests/golden/data/splitters.jsonl"));
  int num_lines = 0;
  for (std::string line; std::getline(golden, line); ++num_lines) {
    const auto record = nlohmann::json::parse(line);
    const std::string name = record[0], text = record[1];
    const auto by = splitter(name);
    EXPECT_EQ(words_of(*by, text), record[2].get<Pieces>()) << name << ": " << record[1];
    if (!record[3].is_null()) {
      EXPECT_EQ(ends_of(*by, text), record[3].get<std::vector<size_t>>())
          << name << ": " << record[1];
    }
  }
  EXPECT_EQ(num_lines, 700);
}

TEST(CleanSplitter, SpacyRejoinsExceptionsAcrossTokens) {
  const auto spacy = splitter("spacy-en");
  EXPECT_EQ(words_of(*spacy, "a man—Mr. X—it's :) (9a.m.) wed."),
            (Pieces{"a", "man", "—", "Mr.", "X", "—", "it", "'s", ":)", "(", "9", "a.m.", ")", "we",
                    "d."}));
  // ":))" is longer than ":)" but spans a space, so it is no exception, and still keeps ":)" apart.
  EXPECT_EQ(words_of(*spacy, "y:) )"), (Pieces{"y", ":", ")", ")"}));
}

TEST(CleanSplitter, AutoGoesByTheScriptOfAWord) {
  const auto by_script = make_splitter("auto"), spacy = make_splitter("spacy-en");
  EXPECT_EQ(words_of(*by_script, "我爱你 don't 吾輩はカメラ ภาษา GPT模型"),
            (Pieces{"我", "爱", "你", "do", "n't", "吾", "輩", "は", "カメラ", "ภ", "า", "ษ", "า",
                    "GPT", "模", "型"}));
  const std::string english = "He doesn't—naïvely—say “no” (9 a.m.), 한국어 по-русски €5.";
  EXPECT_EQ(words_of(*by_script, english), words_of(*spacy, english));
}

TEST(CleanSplitter, WhitespaceSplitsAsPythonDoes) {
  const auto whitespace = splitter("whitespace");
  EXPECT_EQ(words_of(*whitespace,
                     "\u3000a\x1c"
                     "b\u200Bc\n"),
            (Pieces{"a", "b\u200Bc"}));
  EXPECT_EQ(ends_of(*whitespace, " One two. Three! Four"), (std::vector<size_t>{9, 16, 21}));
  EXPECT_EQ(ends_of(*whitespace, "  "), std::vector<size_t>{});
}

TEST(CleanSplitter, EmptyTextHasNoWords) {
  for (const std::string_view name : kSplitterNames) {
    const auto by = splitter(std::string(name));
    EXPECT_EQ(words_of(*by, ""), Pieces{}) << name;
    EXPECT_EQ(words_of(*by, " \n"), Pieces{}) << name;
    EXPECT_EQ(ends_of(*by, ""), std::vector<size_t>{}) << name;
  }
}

// Each of these made some step of a splitter start over for every character, were it written so.
TEST(CleanSplitter, LongRunsTakeLinearTime) {
  for (const std::string piece :
       {"!",   ".",  "…",       "'",   "\"", "-",  "a.", "a@",  "(", "x'",   ":)", ". ",
        "-- ", "中", "e\u0301", "!\"", "9.", "a-", "A.", "://", "`", "? \n", "1,"}) {
    std::string text;
    while (text.size() < 100'000) text += piece;
    for (const std::string_view name : kSplitterNames) {
      const auto by = splitter(std::string(name));
      EXPECT_FALSE(words_of(*by, text).empty()) << name << " " << piece;
      ends_of(*by, text);
    }
  }
}

TEST(CleanSplitter, NltkNeedsWhatPunktLearnt) {
  EXPECT_NE(error_of(ErrorCode::Config, [] { make_splitter("nltk-en"); }).find("punkt_tab"),
            std::string::npos);
  PunktFiles punkt = punkt_files();
  punkt.collocations = "one column\n";
  EXPECT_NE(
      error_of(ErrorCode::Data, [&] { make_splitter("nltk-en", &punkt); }).find("collocations.tab"),
      std::string::npos);
  punkt = punkt_files();
  punkt.contexts = "word\tmany\n";
  EXPECT_NE(error_of(ErrorCode::Data, [&] { make_splitter("nltk-en", &punkt); }).find("«many»"),
            std::string::npos);
}

TEST(CleanSplitter, OtherNamesAreRefused) {
  EXPECT_NE(error_of(ErrorCode::Config, [] { make_splitter("spacy"); }).find("spacy-en"),
            std::string::npos);
}

}  // namespace
}  // namespace ingot
