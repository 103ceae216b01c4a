// Python's text semantics, by CPython 3.11's own words.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <fstream>

#include "core/text/python_text.h"
#include "core/text/unicode.h"
#include "core/text/utf8.h"
#include "ingest/text/normalize.h"
#include "support/source_path.h"

namespace ingot::text {
namespace {

using Pieces = std::vector<std::string>;

Pieces lines_of(std::string_view text) {
  Pieces lines;
  for (std::string_view line; next_line(text, line);) lines.emplace_back(line);
  return lines;
}

size_t count_property(int property) {
  size_t count = 0;
  for (char32_t code = 0; code < kCodePoints; ++code) count += has(code, property);
  return count;
}

TEST(CleanText, CharacterSetsHaveTheirSizes) {
  EXPECT_EQ(count_property(kSpace), 29u);
  EXPECT_EQ(count_property(kLineBreak), 10u);
  EXPECT_EQ(count_property(kPunctuation), 129u);
  EXPECT_EQ(count_property(kTerminal), 159u);
  EXPECT_EQ(count_property(kPunctuation | kTerminal), 281u);
  EXPECT_EQ(count_property(kSentenceEnd), 128u);
  EXPECT_TRUE(has(0xFF11, kPunctuation));
  EXPECT_FALSE(has(0x200B, kSpace));
  EXPECT_FALSE(has(0xFEFF, kSpace));
  EXPECT_TRUE(has(0x1C, kSpace));
}

TEST(CleanText, LengthCountsCodePoints) {
  for (const std::string piece : {"x", "é", "€", "😀"}) {
    std::string text;
    for (size_t n = 0; n < 3000; n += 1 + n / 9) {
      while (text.size() < n * piece.size()) text += piece;
      ASSERT_EQ(length(text), n) << piece;
    }
  }
  EXPECT_EQ(length("e\u0301"), 2u);
}

TEST(CleanText, SplitlinesBreaksWherePythonDoes) {
  EXPECT_EQ(lines_of(""), Pieces{});
  EXPECT_EQ(lines_of("\n"), Pieces{""});
  EXPECT_EQ(lines_of("a\r\nb\rc\n\nd\n"), (Pieces{"a", "b", "c", "", "d"}));
  EXPECT_EQ(lines_of("a\vb\fc\x1c"
                     "d\x1d"
                     "e\x1e"
                     "f\u0085g\u2028h\u2029i\x1fj\u00a0k"),
            (Pieces{"a", "b", "c", "d", "e", "f", "g", "h", "i\x1fj\u00a0k"}));
}

TEST(CleanText, PiecesKeepTheEmptyOnes) {
  const auto pieces_of = [](std::string_view text) {
    Pieces pieces;
    for (std::string_view piece; next_piece(text, '\n', piece);) pieces.emplace_back(piece);
    return pieces;
  };
  EXPECT_EQ(pieces_of(""), Pieces{""});
  EXPECT_EQ(pieces_of("\na\n\n"), (Pieces{"", "a", "", ""}));
}

TEST(CleanText, StripAndSplitKnowAllWhitespace) {
  std::string spaces;
  for (char32_t code = 0; code < kCodePoints; ++code) {
    if (has(code, kSpace)) append_character(spaces, code);
  }
  EXPECT_EQ(strip(spaces + "a" + spaces + "b" + spaces), "a" + spaces + "b");
  EXPECT_EQ(lstrip(spaces + "é"), "é");
  EXPECT_EQ(rstrip("é" + spaces), "é");
  EXPECT_EQ(strip(spaces), "");
  std::string_view rest = spaces;
  std::string_view word;
  EXPECT_FALSE(next_word(rest, word));
  EXPECT_EQ(strip("\u200Ba\uFEFF"), "\u200Ba\uFEFF");
}

TEST(CleanText, CountDoesNotOverlap) {
  EXPECT_EQ(count("....", "..."), 1u);
  EXPECT_EQ(count("......", "..."), 2u);
  EXPECT_EQ(count("a…b…", "…"), 2u);
  EXPECT_EQ(count("", "#"), 0u);
}

TEST(CleanText, LowerKnowsTheFinalSigmaAndTheDottedI) {
  EXPECT_EQ(lower("ΟΔΥΣΣΕΥΣ ΣΑΣ. Σ ΑΣ'Α ΑΣ' ΑΣ\u0301Α"), "οδυσσευς σας. σ ασ'α ας' ασ\u0301α");
  EXPECT_EQ(lower("İI\u212A"), "i\u0307ik");
}

// Section 9's table, in the order of NormalForm.
TEST(CleanText, NormalFormsFollowTheirVectors) {
  const auto forms_of = [](std::string_view text) {
    Pieces forms;
    for (const auto form :
         {NormalForm::Datatrove010, NormalForm::FinewebV1, NormalForm::Datatrove02}) {
      forms.emplace_back();
      normalize(form, text, forms.back());
    }
    return forms;
  };
  EXPECT_EQ(forms_of("Prices: 1,234.50 — Café №7!"),
            (Pieces{"prices 0 0 cafe №0", "prices 0 0 cafe №0", "prices 0  cafe №0"}));
  EXPECT_EQ(forms_of("1|2|3"), (Pieces{"0 0 0", "0 0 0", "0"}));
  EXPECT_EQ(forms_of("ＡＢＣ１２３ ١٢٫٥"), (Pieces{"ａｂｃ0 0", "ａｂｃ0 0٫0", "ａｂｃ0 0٫0"}));
  EXPECT_EQ(forms_of("İstanbul \u3000 naïve…"),
            (Pieces{"istanbul naive", "istanbul naive", "istanbul naive"}));
  EXPECT_EQ(forms_of("ΟΔΥΣΣΕΥΣ a\u200Bb")[0], "οδυσσευς a\u200Bb");
  EXPECT_EQ(forms_of(" \u0308 ")[0], "");
}

// All of Unicode at once against hashes that tools/clean_reference.py took of CPython's results.
TEST(CleanText, EveryCharacterIsLoweredAndNormalisedAsByPython) {
  std::ifstream golden(testing_support::source_path("tests/golden/data/clean.txt"));
  std::string name, expected;
  golden >> name;
  ASSERT_EQ(name, "unicode");

  std::string text;
  for (char32_t code = 0; code < kCodePoints; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    text += 'A';
    append_character(text, code);
    text += "b ";
    append_character(text, code);
    text += '1';
    append_character(text, code);
  }
  const auto digest = [](const std::string& made) {
    const std::string line = "\n" + made + "\n";
    return fmt::format("{:08x}", XXH64(line.data(), line.size(), 0) & 0xFFFFFFFF);
  };
  golden >> expected;
  EXPECT_EQ(digest(lower(text)), expected);
  for (const auto form :
       {NormalForm::Datatrove010, NormalForm::FinewebV1, NormalForm::Datatrove02}) {
    std::string made;
    normalize(form, text, made);
    golden >> expected;
    EXPECT_EQ(digest(made), expected) << static_cast<int>(form);
  }
}

}  // namespace
}  // namespace ingot::text
