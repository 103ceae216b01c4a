// Regular expressions: Hugging Face's matches, and bounds for hostile patterns.
#include "tokenizer/hf/regex/hf_regex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "core/error/error.h"
#include "core/random/random.h"
#include "tokenizer/hf/regex/literal_tree.h"
#include "tokenizer/hf/regex/pattern_guard.h"

namespace ingot {
namespace {

using Matches = std::vector<std::pair<size_t, size_t>>;

Matches matches(const std::string& pattern, std::string_view text) {
  Matches found;
  HfRegex(pattern, "test").for_each_match(text, [&](const RegexMatch& match) {
    found.emplace_back(match.begin, match.end);
  });
  return found;
}

TEST(HfRegex, FindsEveryMatch) {
  EXPECT_EQ(matches("a+", "aabaxa"), (Matches{{0, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(matches("é|.$", "aéz"), (Matches{{1, 3}, {3, 4}}));
  EXPECT_EQ(matches("x", ""), Matches{});
  // Empty ones, too, but none where the one before ended.
  EXPECT_EQ(matches("a*", "baé"), (Matches{{0, 0}, {1, 2}, {4, 4}}));
  EXPECT_EQ(matches("(?=b)", "abb"), (Matches{{1, 1}, {2, 2}}));
}

// To Oniguruma a + after {n,m} repeats that; with n > m, what is between gives nothing back.
TEST(HfRegex, NumbersOfRepetitionsAreTakenAsOnigurumaDoes) {
  EXPECT_EQ(matches("a{1,3}+", "aaaaa"), (Matches{{0, 5}}));
  EXPECT_EQ(matches("a{3,1}a", "aaab"), Matches{});
  EXPECT_EQ(matches("a{1,3}a", "aaab"), (Matches{{0, 3}}));
}

TEST(HfRegex, FindsMatchesFarBehindTheStart) {
  const std::string far(1000, '.');
  EXPECT_EQ(matches("ab", far + "ab" + far), (Matches{{1000, 1002}}));
  EXPECT_EQ(matches("é", far + "é"), (Matches{{1000, 1002}}));
  EXPECT_EQ(matches("(?<=é)b", far + "éb"), (Matches{{1002, 1003}}));
}

// Debian's Oniguruma has Unicode 14, that of Hugging Face's wheels 16.
TEST(HfRegex, KnowsCharactersOfUnicode16) {
  EXPECT_EQ(matches("\\p{L}+", "\u1C89\U0001E5D0"), (Matches{{0, 7}}));
  EXPECT_EQ(matches("[^\\p{Lu}]", "\u1C89"), Matches{});
  EXPECT_EQ(matches("\\p{N}", "\U00010D40"), (Matches{{0, 4}}));
  EXPECT_EQ(matches("[\\d]\\D", "\U00010D40\\"), (Matches{{0, 5}}));
  EXPECT_EQ(matches("\\w\\W", "\u1C89 "), (Matches{{0, 4}}));
  EXPECT_EQ(matches("\\p{M}", "\u0897"), (Matches{{0, 3}}));
}

// Oniguruma's own: joiners are no part of words, Latin-1's numbers are where \w stands alone.
TEST(HfRegex, WordsAndPunctuationAreThoseOfHuggingFace) {
  EXPECT_EQ(matches("\\w+", "a²½\u200Db"), (Matches{{0, 5}, {8, 9}}));
  EXPECT_EQ(matches("\\W", "²\u200C③"), (Matches{{2, 5}, {5, 8}}));
  EXPECT_EQ(matches("[\\w]+|[^\\w\\s]+", "a²\u200D"), (Matches{{0, 1}, {1, 6}}));
  EXPECT_EQ(matches("[]\\w]", "]²"), (Matches{{0, 1}}));
  EXPECT_EQ(matches("[[:punct:]]+", "a$+<=>^`|~€.b"), (Matches{{1, 14}}));
  EXPECT_EQ(matches("[[:^punct:]]", "a$"), (Matches{{0, 1}}));
  EXPECT_EQ(matches("[[:word:]-]+", "a-\u1C89."), (Matches{{0, 5}}));
  EXPECT_EQ(matches("\\p{Han}", "語\U0002EBF0a"), (Matches{{0, 3}, {3, 7}}));
  EXPECT_EQ(matches("[\\p{L}&&[^\\p{Han}]]", "\U0002EBF0a"), (Matches{{4, 5}}));
  EXPECT_EQ(matches("\\P{Cf}", "\U00013439a"), (Matches{{4, 5}}));
}

TEST(HfRegex, WhatTakesMoreThanLinearTimeIsStopped) {
  const std::string some = std::string(300, 'a') + "xb", many(200000, 'a');
  for (const char* pattern : {"(a|a)*b", "(a|aa)+$", "(a+)+b"}) {
    EXPECT_THROW(matches(pattern, some), Error) << pattern;
  }
  EXPECT_THROW(matches("a*+b", many), Error);  // no step back, but much work
  EXPECT_TRUE(verdict_on_pattern("a{90000,1}b").hides_steps);
  EXPECT_FALSE(verdict_on_pattern("a{1,90000}b").hides_steps);
  EXPECT_EQ(matches("a+", many), (Matches{{0, many.size()}}));
}

TEST(HfRegex, PatternsThatCannotBeBoundedAreRefused) {
  for (const char* pattern :
       {"(?:(?=a*)a)*", "(?:a{5000,1}b|a)*", "(?:a{1,2}+(?>b*))+", "(?:(?>a*)b|a)+",
        "(?:a*+b|a){2,}", "(a++)+", "((?!x*)a){0,5000}", "(?x)a b", "(?i-x:a)", "\\Ga", "(a)\\g<1>",
        "(*FAIL)", "(?{x})", "(?~ab)"}) {
    EXPECT_FALSE(verdict_on_pattern(pattern).refusal.empty()) << pattern;
    EXPECT_THROW(matches(pattern, "a"), Error) << pattern;
  }
  for (const char* pattern : {"\\s+(?!\\S)", "(?i:'s|'t)|\\p{L}++", "(?=(\\d{3})+(?!\\d))",
                              "[^(\\s|[.,!?])]+", "(?:a?+b)*", "(?:a{1,2}+b)*", "[]*+]+",
                              "(?#*+)a*", "\\(*+", "(?:a{3}+)*", "(?<x>a)+", "[[:alpha:]*+]*"}) {
    EXPECT_EQ(verdict_on_pattern(pattern).refusal, "") << pattern;
  }
}

TEST(HfRegex, LiteralsBecomeATree) {
  EXPECT_EQ(with_literals_as_tree("there|them|that|a|be|bé|c|d| ?\\w"),
            "t(?:h(?:e(?:re|m)|at))|a|b(?:e|é)|c|d| ?\\w");
  // What comes after a literal that it begins with is never tried.
  EXPECT_EQ(with_literals_as_tree("ab|a|abc|x|y|z|u|v"), "a(?:b|)|x|y|z|u|v");
  EXPECT_EQ(with_literals_as_tree("[|a]|a|b|c|d|e|f|g|ha|(i|hb)|h"),
            "[|a]|a|b|c|d|e|f|g|ha|(i|hb)|h");
  for (const char* same : {"", "ab|ac", "a|b|c|d|e|f|g|h(?i)x", "(?#|)a|ab|ac|ad|ae|af|ag|ah|ai",
                           "(ab|ac|ad|ae|af|ag|ah|ai)", "a+|ab?|ac*|ad|ae.|af|ag\\|ah|ai|aj|ak"}) {
    EXPECT_EQ(with_literals_as_tree(same), same);
  }
  const std::string deep(3000, 'a');
  std::string pattern = "b";
  for (size_t i = 0; i < 8; ++i) pattern += "|" + deep.substr(i);
  EXPECT_EQ(matches(pattern, deep), (Matches{{0, deep.size()}}));
}

// The first literal of the list that stands there, found without an engine.
TEST(HfRegex, TheFirstOfManyLiteralsIsFound) {
  const RandomStream random(3, Purpose::Test);
  uint64_t next = 0;
  const auto word = [&](uint32_t longest) {
    std::string text;
    for (uint32_t left = 1 + random.bits(next++) % longest; left > 0; --left) {
      text += std::array{"a", "b", "é", "語"}[random.bits(next++) % 4];
    }
    return text;
  };
  for (int round = 0; round < 50; ++round) {
    std::vector<std::string> words;
    std::string pattern;
    for (int i = 0; i < 20; ++i) {
      words.push_back(word(5));
      pattern += (i == 0 ? "" : "|") + words.back();
    }
    const std::string text = word(100);
    Matches expected;
    for (size_t at = 0; at < text.size();) {
      const auto found = std::find_if(words.begin(), words.end(), [&](const std::string& w) {
        return text.compare(at, w.size(), w) == 0;
      });
      if (found == words.end()) {
        ++at;
      } else {
        expected.emplace_back(at, at + found->size());
        at += found->size();
      }
    }
    EXPECT_EQ(matches(pattern, text), expected) << pattern << " in " << text;
  }
}

TEST(HfRegex, WhatIsNoPatternIsRefused) {
  for (const char* pattern : {"(a", "[a", "a{2,1", "*", "\\p{Nowhere}", "(?<=a+)b"}) {
    try {
      matches(pattern, "a");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Data) << pattern;
    }
  }
  EXPECT_THROW(matches("(a", "a"), Error);
  EXPECT_THROW(matches("\\p{Nowhere}", "a"), Error);
  EXPECT_THROW(matches(std::string(kLongestPattern + 1, 'a'), "a"), Error);
  EXPECT_THROW(matches(std::string(5000, '(') + std::string(5000, ')'), "a"), Error);
}

}  // namespace
}  // namespace ingot
