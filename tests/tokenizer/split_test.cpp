#include "tokenizer/bpe/split.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/forced_isa.h"
#include "support/source_path.h"
#include "tokenizer/bpe/split_scalar.h"
#include "tokenizer/nasty_text.h"
#include "tokenizer/unicode/unicode_classes.h"

namespace ingot {
namespace {

using testing_support::nasty_text;
using Pieces = std::vector<std::string>;

Pieces pieces_of(Split split, std::string_view text) {
  std::vector<uint32_t> ends;
  split_text(split, text, ends);
  Pieces pieces;
  uint32_t begin = 0;
  for (const uint32_t end : ends) {
    pieces.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  EXPECT_EQ(begin, text.size());
  return pieces;
}

std::vector<uint32_t> ends_by_definition(Split split, std::string_view text) {
  std::vector<uint32_t> ends;
  for (size_t at = 0; at < text.size();) {
    at += first_piece(split, text.substr(at));
    ends.push_back(static_cast<uint32_t>(at));
  }
  return ends;
}

std::vector<uint32_t> ends_by_windows(Split split, std::string_view text) {
  std::vector<uint32_t> ends, some(64 + text.size() % 100);
  for (size_t at = 0; at < text.size();) {
    const size_t count = split_some(split, text.substr(at), some);
    for (size_t i = 0; i < count; ++i) ends.push_back(static_cast<uint32_t>(at) + some[i]);
    at = ends.back();
  }
  return ends;
}

// The published vectors: G Gpt2, C Cl100k, L Llama3, Q Qwen2, O O200k, N Nanochat.
void expect_pieces(std::string_view letters, std::string_view text, const Pieces& expected) {
  for (const char letter : letters) {
    const Split split = letter == 'G'   ? Split::Gpt2
                        : letter == 'C' ? Split::Cl100k
                        : letter == 'L' ? Split::Llama3
                        : letter == 'Q' ? Split::Qwen2
                        : letter == 'O' ? Split::O200k
                                        : Split::Nanochat;
    EXPECT_EQ(pieces_of(split, text), expected) << name_of(split) << ": " << text;
  }
}

TEST(Split, CutsAsPublished) {
  expect_pieces("GCLQON", "Hello  world", {"Hello", " ", " world"});
  expect_pieces("G", "I'LL don't 'Sup", {"I", "'", "LL", " don", "'t", " '", "Sup"});
  expect_pieces("CLQN", "I'LL don't 'Sup", {"I", "'LL", " don", "'t", " '", "Sup"});
  expect_pieces("O", "I'LL don't 'Sup", {"I'LL", " don't", " '", "Sup"});
  expect_pieces("G", "x\n\n  y\n", {"x", "\n\n ", " y", "\n"});
  expect_pieces("CLQON", "x\n\n  y\n", {"x", "\n\n", " ", " y", "\n"});
  expect_pieces("G", "12345678", {"12345678"});
  expect_pieces("CLO", "12345678", {"123", "456", "78"});
  expect_pieces("N", "12345678", {"12", "34", "56", "78"});
  expect_pieces("Q", "12345678", {"1", "2", "3", "4", "5", "6", "7", "8"});
  expect_pieces("G", " \n\tfoo", {" \n", "\t", "foo"});
  expect_pieces("CLQON", " \n\tfoo", {" \n", "\tfoo"});
  expect_pieces("G", "a\u00A0b \u3000c", {"a", "\u00A0", "b", " ", "\u3000", "c"});
  expect_pieces("CLQON", "a\u00A0b \u3000c", {"a", "\u00A0b", " ", "\u3000c"});
  expect_pieces("O", "cafe\u0301 HTTPServer's", {"cafe\u0301", " HTTPServer's"});
  expect_pieces("GCLQN", "cafe\u0301 HTTPServer's", {"cafe", "\u0301", " HTTPServer", "'s"});
  expect_pieces("G", "foo\r\n\r\nbar   ", {"foo", "\r\n\r", "\n", "bar", "   "});
  expect_pieces("CLQON", "foo\r\n\r\nbar   ", {"foo", "\r\n\r\n", "bar", "   "});
  expect_pieces("G", "don’t", {"don", "’", "t"});
  expect_pieces("CLQON", "don’t", {"don", "’t"});
  expect_pieces("G", "'ſx", {"'", "ſx"});
  expect_pieces("CLQN", "'ſx", {"'ſ", "x"});
  expect_pieces("O", "'ſx", {"'ſx"});
  expect_pieces("G", "$100,000.50!!\n\n", {"$", "100", ",", "000", ".", "50", "!!", "\n\n"});
  expect_pieces("CLO", "$100,000.50!!\n\n", {"$", "100", ",", "000", ".", "50", "!!\n\n"});
  expect_pieces("G", "你好，世界1", {"你好", "，", "世界", "1"});
  expect_pieces("CLQON", "你好，世界1", {"你好", "，世界", "1"});
  expect_pieces("G", "a/b//\n c", {"a", "/", "b", "//", "\n", " c"});
  expect_pieces("CLQON", "a/b//\n c", {"a", "/b", "//\n", " c"});
  expect_pieces("GCLO", "Ⅷ½²x", {"Ⅷ½²", "x"});
  expect_pieces("N", "Ⅷ½²x", {"Ⅷ½", "²", "x"});
  expect_pieces("Q", "Ⅷ½²x", {"Ⅷ", "½", "²", "x"});
  expect_pieces("C", "foo \n ", {"foo", " \n "});
  expect_pieces("LQON", "foo \n ", {"foo", " \n", " "});
}

TEST(Split, WhatPythonCallsASpaceBelow20IsNone) {
  expect_pieces("GCLQON", "x \u001C y", {"x", " \u001C", " y"});
}

TEST(Split, CutsAsTwoRegexEnginesDo) {
  std::ifstream file(testing_support::source_path("tests/golden/tokenizer/split.jsonl"));
  int texts = 0;
  for (std::string line; std::getline(file, line); ++texts) {
    const auto golden = nlohmann::json::parse(line);
    const auto text = golden["text"].get<std::string>();
    for (const Split split : kAllSplits) {
      if (split == Split::None) continue;
      std::vector<uint32_t> ends, expected;
      split_text(split, text, ends);
      uint32_t end = 0;
      for (const uint32_t size : golden[std::string(name_of(split))])
        expected.push_back(end += size);
      ASSERT_EQ(ends, expected) << name_of(split) << ": " << golden["text"];
      ASSERT_EQ(ends_by_definition(split, text), expected) << name_of(split) << golden["text"];
    }
  }
  EXPECT_GT(texts, 700);
}

TEST(Split, WindowsOfEveryIsaCutAsTheDefinition) {
  for (const cpu::Isa isa : test::runnable_isas()) {
    const test::ForcedIsa forced(isa);
    for (uint64_t seed = 0; seed < 3000; ++seed) {
      const std::string text = nasty_text(seed, 1 + seed % 150);
      for (const Split split : kAllSplits) {
        ASSERT_EQ(ends_by_windows(split, text), ends_by_definition(split, text))
            << name_of(split) << " seed " << seed << " " << cpu::name_of(isa);
      }
    }
  }
}

TEST(Split, EveryCharacterInEveryPlaceOfAWindow) {
  for (const std::string& part : testing_support::nasty_parts()) {
    for (size_t before = 0; before < 70; ++before) {
      std::string text = std::string(before % 7, 'x') + " ";
      while (text.size() < before) text += "word, ";
      text =
          text.substr(0, before) + part + " and so on until the window is full and ended, at last";
      for (const Split split : kAllSplits) {
        ASSERT_EQ(ends_by_windows(split, text), ends_by_definition(split, text))
            << name_of(split) << ": " << text;
      }
    }
  }
}

TEST(Split, LongRunsAreLinear) {
  for (const std::string part :
       {"a", "^", " ", "\n", "7", "é", "你", "A", "\u0301", "\xFF", "中A"}) {
    std::string text;
    while (text.size() < 1'000'000) text += part;
    for (const Split split : kAllSplits) {
      EXPECT_EQ(pieces_of(split, text).empty(), false) << name_of(split);
    }
  }
}

TEST(Split, ASafeCutChangesNoPiece) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const std::string text = nasty_text(seed, 30);
    for (const Split split : kAllSplits) {
      const auto whole = ends_by_definition(split, text);
      for (size_t limit = 1; limit <= text.size(); ++limit) {
        const size_t cut = safe_cut(split, text, limit);
        ASSERT_LE(cut, limit);
        if (cut == 0) continue;
        const auto head = ends_by_definition(split, text.substr(0, cut));
        auto parts = head;
        for (const uint32_t end : ends_by_definition(split, text.substr(cut))) {
          parts.push_back(static_cast<uint32_t>(cut) + end);
        }
        ASSERT_EQ(parts, whole) << name_of(split) << " seed " << seed << " cut " << cut;
      }
    }
  }
  EXPECT_EQ(safe_cut(Split::Gpt2, "one two three", 10), 7u);
  EXPECT_EQ(safe_cut(Split::Gpt2, "好，好", 6), 3u);
  EXPECT_EQ(safe_cut(Split::Gpt2, "", 0), 0u);
}

TEST(Split, NamesAndPatternsComeBack) {
  for (const Split split : kAllSplits) {
    EXPECT_EQ(split_named(name_of(split)), split);
    if (split == Split::None) continue;
    EXPECT_EQ(split_of_pattern(pattern_of(split)), split);
  }
  EXPECT_EQ(split_named("gpt5"), std::nullopt);
  EXPECT_EQ(split_of_pattern("\\p{L}+"), std::nullopt);
  // A possessive number of digits: Oniguruma, which reads tokenizer.json elsewhere, has none.
  for (const Split split : kAllSplits) {
    for (const char* possessive : {"2}+", "3}+"}) {
      EXPECT_EQ(pattern_of(split).find(possessive), std::string_view::npos) << pattern_of(split);
    }
  }
}

TEST(UnicodeClasses, BrokenUtf8IsOneByteWithoutClass) {
  for (const std::string_view broken :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC3", "\xE0\x80\x80", "\xE4\xBD", "\xED\xA0\x80",
        "\xF0\x80\x80\x80", "\xF0\x9F\x98", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    const Character c = first_character(broken);
    EXPECT_EQ(c.size, 1u);
    EXPECT_EQ(c.classes, 0);
  }
  EXPECT_EQ(first_character("😀!").size, 4u);
  EXPECT_EQ(first_character("\U0010FFFF").code_point, 0x10FFFFu);
}

TEST(UnicodeClasses, CountsAreThoseOfUnicode16) {
  std::array<int, 8> counts{};
  for (uint32_t point = 0; point < 0x110000; ++point) {
    for (int bit = 0; bit < 8; ++bit) counts[bit] += classes_of(point) >> bit & 1;
  }
  EXPECT_EQ(unicode_version(), "16.0.0");
  EXPECT_EQ(counts[0], 141'028);  // L, N, White_Space, Lu + Lt, Ll, M
  EXPECT_EQ(counts[1], 1'911);
  EXPECT_EQ(counts[2], 25);
  EXPECT_EQ(counts[3], 1'858 + 31);
  EXPECT_EQ(counts[4], 2'258);
  EXPECT_EQ(counts[5], 2'501);
}

}  // namespace
}  // namespace ingot
