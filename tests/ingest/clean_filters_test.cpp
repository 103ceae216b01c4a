// The filters' vectors: formulas of datatrove 0.3 and 0.10 with a whitespace splitter.
#include <gtest/gtest.h>

#include "ingest/clean/filters/c4.h"
#include "ingest/clean/filters/c4_paragraph.h"
#include "ingest/clean/filters/fineweb.h"
#include "ingest/clean/filters/gopher_quality.h"
#include "ingest/clean/filters/gopher_repetition.h"
#include "ingest/clean/filters/length.h"
#include "ingest/clean_vectors.h"

namespace ingot {
namespace {

using testing_support::join;
using testing_support::numbered_words;
using testing_support::prefix_of;
using testing_support::times;

using Reason = std::string;
constexpr const char* kKeep = "";

// A reason for each of the two versions.
struct Reasons {
  Reason v1, v10;
  bool operator==(const Reasons&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Reasons& reasons) {
  return out << "{" << reasons.v1 << "; " << reasons.v10 << "}";
}
Reasons same(const Reason& reason) {
  return {reason, reason};
}

class CleanFilters : public ::testing::Test {
 protected:
  template <class Filter>
  static Reasons both(Filter filter) {
    return {filter(CleanVersion::FinewebV1), filter(CleanVersion::Datatrove010)};
  }
  Reasons quality(const std::string& text, const GopherQualitySettings& settings = {}) {
    return both([&](CleanVersion version) {
      splitter_->words(text, scratch_.words);
      return Reason(gopher_quality(settings, version, text, scratch_.words));
    });
  }
  Reason repetition(const std::string& text, const GopherRepetitionSettings& settings = {}) {
    splitter_->words(text, scratch_.words);
    return Reason(gopher_repetition(settings, text, scratch_.words, scratch_));
  }
  // Leaves the rewritten text in scratch_ and what happened to lines in counts_.
  Reasons c4(const std::string& text, const C4Settings& settings = {}) {
    return both([&](CleanVersion version) {
      counts_ = {};
      return Reason(c4_quality(settings, version, text, *splitter_, scratch_, counts_));
    });
  }
  Reasons fineweb(const std::string& text, const FinewebSettings& settings = {}) {
    return both([&](CleanVersion version) {
      return Reason(fineweb_quality(settings, version, text, *splitter_, scratch_));
    });
  }

  const std::unique_ptr<const Splitter> splitter_ = make_splitter("whitespace");
  CleanScratch scratch_;
  C4LineCounts counts_{};
};

TEST_F(CleanFilters, GopherQualityCountsProperWords) {
  EXPECT_EQ(quality("the of " + numbered_words(47)), same("gopher_short_doc"));
  EXPECT_EQ(quality("the of " + numbered_words(48)), same(kKeep));
  EXPECT_EQ(quality("the of " + numbered_words(47) + times(10, " --")), same("gopher_short_doc"));
  EXPECT_EQ(quality("the of " + numbered_words(47) + " \u0964"),
            (Reasons{kKeep, "gopher_short_doc"}));
  GopherQualitySettings few;
  few.max_words = 60;
  EXPECT_EQ(quality("the of " + numbered_words(58), few), same(kKeep));
  EXPECT_EQ(quality("the of " + numbered_words(59), few), same("gopher_long_doc"));
}

TEST_F(CleanFilters, GopherQualityLimitsTheMeanLength) {
  EXPECT_EQ(quality("the of " + times(50, "ab ")), same("gopher_below_avg_threshold"));
  EXPECT_EQ(quality("the of " + numbered_words(50, "abcdefgh")),
            same("gopher_above_avg_threshold"));
}

TEST_F(CleanFilters, GopherQualityLimitsSymbols) {
  EXPECT_EQ(quality("the of " + numbered_words(48) + "#####"), same(kKeep));
  EXPECT_EQ(quality("the of " + numbered_words(48) + "######"), same("gopher_too_many_hashes"));
  // Three full stops and the character both count; four full stops are one ellipsis.
  EXPECT_EQ(quality("the of ....…………x " + numbered_words(47)), same(kKeep));
  EXPECT_EQ(quality("the of ......…………x " + numbered_words(47)), same("gopher_too_many_ellipsis"));
}

TEST_F(CleanFilters, GopherQualityLooksAtBothEndsOfLines) {
  const auto with_ellipses = [](int num_ellipses) {
    std::vector<std::string> lines;
    for (int i = 0; i < 10; ++i) {
      lines.push_back("the of " + numbered_words(6, prefix_of(i)) +
                      (i < num_ellipses ? "…  " : ""));
    }
    return join(lines, "\n");
  };
  EXPECT_EQ(quality(with_ellipses(3)), same(kKeep));
  EXPECT_EQ(quality(with_ellipses(4)), same("gopher_too_many_end_ellipsis"));
  std::vector<std::string> bullets;
  for (int i = 0; i < 10; ++i)
    bullets.push_back("\u3000• the of " + numbered_words(5, prefix_of(i)));
  EXPECT_EQ(quality(join(bullets, "\n")), same("gopher_too_many_bullets"));
}

TEST_F(CleanFilters, GopherQualityWantsLettersAndStopWords) {
  EXPECT_EQ(quality("the of " + numbered_words(46) + times(12, " 12345")), same(kKeep));
  EXPECT_EQ(quality("the of " + numbered_words(45) + times(12, " 12345")),
            same("gopher_below_alpha_threshold"));
  EXPECT_EQ(quality("the the " + numbered_words(50)), (Reasons{kKeep, "gopher_enough_stop_words"}));
  EXPECT_EQ(quality("The Of " + numbered_words(50)), same("gopher_enough_stop_words"));
}

TEST_F(CleanFilters, GopherQualityRulesAreOffAtZero) {
  GopherQualitySettings off;
  off.min_words = off.max_words = off.min_stop_words = 0;
  off.min_mean_word_chars = off.max_mean_word_chars = off.max_symbols_per_word = 0;
  off.max_bullet_lines = off.max_ellipsis_lines = off.min_alpha_words = 0;
  off.stop_words.clear();
  EXPECT_EQ(quality("a # ... 1", off), same(kKeep));
  EXPECT_EQ(quality("  ", off), same("empty"));  // Python divides by zero
}

TEST_F(CleanFilters, GopherRepetitionOfNGrams) {
  EXPECT_EQ(repetition(numbered_words(60)), kKeep);
  EXPECT_EQ(repetition("aa bb cc"), "top_2_gram");
  // Two pairs are equally frequent; the one seen first counts, and it is short.
  EXPECT_EQ(repetition("aa bb " + numbered_words(5, "m") + " aa bb " + numbered_words(5, "n") +
                       " cccccccc dddddddd " + numbered_words(5, "o") + " cccccccc dddddddd"),
            kKeep);
  EXPECT_EQ(repetition(numbered_words(30) + " " + numbered_words(10, "zz") + " " +
                       numbered_words(10, "zz")),
            "duplicated_5_n_grams");
}

TEST_F(CleanFilters, GopherRepetitionComparesConcatenations) {
  const auto run = [](char letter, int n) { return std::string(static_cast<size_t>(n), letter); };
  const std::string words =
      join({run('p', 10), run('q', 10), run('r', 10), run('s', 10), run('t', 10)}, " ");
  const std::string cut_otherwise = join(
      {run('p', 9), "p" + run('q', 9), "q" + run('r', 9), "r" + run('s', 9), "s" + run('t', 10)},
      " ");
  EXPECT_EQ(repetition(numbered_words(30) + " " + words + " " + cut_otherwise),
            "duplicated_5_n_grams");
  // Short ones too, whose n-grams have fewer bytes than the heads that are compared first.
  GopherRepetitionSettings only_dups;
  only_dups.top_n_grams.clear();
  EXPECT_EQ(repetition("a b c d e ff g h i j k", only_dups), kKeep);
  EXPECT_EQ(repetition("a bb c d e ff ab b c d e", only_dups), "duplicated_5_n_grams");
}

TEST_F(CleanFilters, GopherRepetitionOfParagraphsAndLines) {
  const auto with_repeats = [](int num_repeats, const std::string& between) {
    std::vector<std::string> pieces;
    for (int i = 0; i < 6; ++i) pieces.push_back(numbered_words(12, prefix_of(i)));
    for (int i = 0; i < num_repeats; ++i) pieces.push_back("ab");
    return join(pieces, between);
  };
  EXPECT_EQ(repetition(with_repeats(4, "\n\n")), kKeep);
  EXPECT_EQ(repetition(with_repeats(5, "\n\n")), "dup_para_frac");
  EXPECT_EQ(repetition(with_repeats(4, "\n") + "\n"), kKeep);
  EXPECT_EQ(repetition("\n" + with_repeats(4, "\n") + "\n"), "dup_line_frac");
  GopherRepetitionSettings as_0_2;
  as_0_2.lines_by_splitlines = true;
  EXPECT_EQ(repetition("\n" + with_repeats(4, "\n") + "\n", as_0_2), kKeep);
  const std::string long_line = numbered_words(12);
  EXPECT_EQ(
      repetition(
          join({long_line, numbered_words(12, "xx"), numbered_words(12, "yy"), long_line}, "\n\n")),
      "dup_para_char_frac");
  EXPECT_EQ(repetition(join(
                {long_line, numbered_words(12, "xx"), numbered_words(12, "yy"), long_line}, "\n")),
            "dup_line_char_frac");
}

const std::string kFiveSentences =
    "One two three. One two three. One two three. One two three. One two three.";
const std::string kFourSentences = "One two three. One two three. One two three. One two three.";

TEST_F(CleanFilters, C4WantsFiveSentences) {
  EXPECT_EQ(c4(times(5, "One two three. ")), same(kKeep));
  EXPECT_EQ(scratch_.rewritten, kFiveSentences);
  EXPECT_EQ(c4(times(4, "One two three. ")), same("too_few_sentences"));
  C4Settings any;
  any.min_sentences = -1;
  EXPECT_EQ(c4("One.", any), same(kKeep));
  EXPECT_EQ(scratch_.rewritten, "");
}

TEST_F(CleanFilters, C4DropsLinesBeforeTheyCanKillTheDocument) {
  EXPECT_EQ(c4("a {b\n" + kFiveSentences), same(kKeep));
  EXPECT_EQ(scratch_.rewritten, kFiveSentences);
  EXPECT_EQ(c4("a { b c.\n" + kFiveSentences), same("curly_bracket"));
  EXPECT_EQ(c4("enable JavaScript {here} now.\n" + kFiveSentences), same(kKeep));
  EXPECT_EQ(scratch_.rewritten, kFiveSentences);
  EXPECT_EQ(c4("Some Lorem Ipsum here.\n" + kFiveSentences), same("lorem_ipsum"));
  EXPECT_EQ(c4("a b " + std::string(1001, 'x') + " c.\n" + kFiveSentences), same(kKeep));
  EXPECT_EQ(scratch_.rewritten, kFiveSentences);
  const std::string fits = "a b " + std::string(1000, 'x') + " c.\n" + kFiveSentences;
  EXPECT_EQ(c4(fits), same(kKeep));
  EXPECT_EQ(scratch_.rewritten, fits);
}

TEST_F(CleanFilters, C4CountsWhatItDoesToLines) {
  c4("too few.\nno mark at all\nends so it does...\nWe use of Coo\u212Aies and \"use "
     "cooKies\".\nJavaScript is off.\n" +
     kFiveSentences);
  EXPECT_EQ(counts_, (C4LineCounts{6, 0, 2, 1, 1, 1, 1}));
  // A line dropped for its words, whose other faults are not looked at.
  c4(std::string(2000, 'x') + " javascript { lorem ipsum.\n" + kFiveSentences);
  EXPECT_EQ(counts_, (C4LineCounts{2, 1, 0, 0, 0, 0, 1}));
}

TEST_F(CleanFilters, C4RemovesCitationsWithoutStrippingAgain) {
  c4("A[1] b[edit] c [citation needed] d[[2]] [x] e[\u0663]. [7]\n" + kFiveSentences, [] {
    C4Settings settings;
    settings.needs_terminal_mark = false;
    return settings;
  }());
  EXPECT_EQ(scratch_.rewritten, "A b c  d[] [x] e. \n" + kFiveSentences);
}

TEST_F(CleanFilters, C4CountsABlankLineAsASentenceInOneVersion) {
  C4Settings settings;
  settings.needs_terminal_mark = false;
  EXPECT_EQ(c4("[1] [2] [3]\n" + kFourSentences, settings), (Reasons{"too_few_sentences", kKeep}));
}

TEST_F(CleanFilters, C4CanWorkOnSentences) {
  C4Settings settings;
  settings.by_sentence = true;
  EXPECT_EQ(c4(kFiveSentences + " This uses cookies.\nNo mark here", settings), same(kKeep));
  EXPECT_EQ(scratch_.rewritten, kFiveSentences);
}

TEST_F(CleanFilters, C4ParagraphsAreLongLines) {
  const std::string line(200, 'x');
  EXPECT_EQ(c4_paragraphs({}, line + "\n" + line + "\n" + line), kKeep);
  EXPECT_EQ(c4_paragraphs({}, line + "\n" + line + "\n" + line.substr(1)), "< 3 paragraphs");
  EXPECT_EQ(c4_paragraphs({}, line + "\n" + line), "< 3 paragraphs");
}

std::string long_lines(int count, int num_ended, const std::string& mark) {
  std::vector<std::string> lines;
  for (int i = 0; i < count; ++i)
    lines.push_back(numbered_words(10, prefix_of(i)) + (i < num_ended ? mark : ""));
  return join(lines, "\n");
}

TEST_F(CleanFilters, FinewebWantsEndMarks) {
  EXPECT_EQ(fineweb(long_lines(100, 11, ".")), same("line_punct_ratio"));
  EXPECT_EQ(fineweb(long_lines(100, 12, ".")), (Reasons{"line_punct_ratio", kKeep}));
  EXPECT_EQ(fineweb(long_lines(100, 13, ".")), same(kKeep));
  EXPECT_EQ(fineweb(long_lines(50, 50, "\"")), (Reasons{kKeep, "line_punct_ratio"}));
  EXPECT_EQ(fineweb(long_lines(50, 50, "。")), (Reasons{"line_punct_ratio", kKeep}));
  FinewebSettings exempt;
  exempt.exempts_no_terminal_lines = true;
  EXPECT_EQ(fineweb(long_lines(100, 0, "."), exempt), same(kKeep));
  EXPECT_EQ(fineweb(long_lines(100, 1, "."), exempt), same("line_punct_ratio"));
}

TEST_F(CleanFilters, FinewebLimitsShortLines) {
  const auto with_short = [](int num_short) {
    std::vector<std::string> lines;
    for (int i = 0; i < 100; ++i)
      lines.push_back(numbered_words(i < num_short ? 2 : 10, prefix_of(i)) + ".");
    return join(lines, "\n");
  };
  EXPECT_EQ(fineweb(with_short(67)), (Reasons{"short_line_ratio", kKeep}));
  EXPECT_EQ(fineweb(with_short(68)), same("short_line_ratio"));
  std::vector<std::string> thirty;
  for (int i = 0; i < 10; ++i) thirty.push_back(numbered_words(5, prefix_of(i)) + ".");
  ASSERT_EQ(thirty[0].size(), 30u);
  EXPECT_EQ(fineweb(join(thirty, "\n")), same("short_line_ratio"));
}

TEST_F(CleanFilters, FinewebLimitsRepeatedLines) {
  const auto with_repeat = [](const std::string& end) {
    std::vector<std::string> lines;
    for (char c = 'a'; c <= 't'; ++c) lines.push_back(times(48, std::string(1, c) + " ") + c + ".");
    for (int i = 0; i < 2; ++i) lines.push_back(times(6, "zz ") + end);
    return join(lines, "\n");
  };
  EXPECT_EQ(fineweb(with_repeat("y.")), (Reasons{"char_dup_ratio", kKeep}));
  EXPECT_EQ(fineweb(with_repeat(".")), same(kKeep));
  EXPECT_EQ(fineweb(with_repeat("yy.")), same("char_dup_ratio"));
}

TEST_F(CleanFilters, FinewebLimitsLists) {
  FinewebSettings only_lists;
  only_lists.max_short_lines = 1;
  only_lists.short_line_chars = 0;
  const auto lists = [&](int words_a_line) {
    std::vector<std::string> lines;
    for (int i = 0; i < 301; ++i) lines.push_back(numbered_words(words_a_line, prefix_of(i)) + ".");
    return fineweb(join(lines, "\n"), only_lists);
  };
  EXPECT_EQ(lists(3), same("list_ratio"));
  EXPECT_EQ(lists(4), same(kKeep));
}

TEST_F(CleanFilters, FinewebWithoutText) {
  EXPECT_EQ(fineweb(" \n \n"), (Reasons{"line_punct_ratio", "empty"}));
  EXPECT_EQ(fineweb("\n\n"), (Reasons{"line_punct_ratio", "empty"}));
  EXPECT_EQ(fineweb(""), (Reasons{"line_punct_ratio", "empty"}));
}

TEST_F(CleanFilters, LengthRulesAreOurOwn) {
  const auto rule = [](auto set) {
    LengthSettings settings;
    set(settings);
    return Reason(length_rules(settings, "Ab 12 --, öde"));  // 13 characters, 4 words, 10 visible
  };
  EXPECT_EQ(rule([](auto&) {}), kKeep);
  EXPECT_EQ(rule([](auto& s) { s.min_chars = 13, s.max_chars = 13; }), kKeep);
  EXPECT_EQ(rule([](auto& s) { s.min_chars = 14; }), "too_few_characters");
  EXPECT_EQ(rule([](auto& s) { s.max_chars = 12; }), "too_many_characters");
  EXPECT_EQ(rule([](auto& s) { s.min_words = 5; }), "too_few_words");
  EXPECT_EQ(rule([](auto& s) { s.max_words = 3; }), "too_many_words");
  EXPECT_EQ(rule([](auto& s) { s.min_mean_word_chars = 2.6; }), "words_too_short");
  EXPECT_EQ(rule([](auto& s) { s.max_mean_word_chars = 2.4; }), "words_too_long");
  EXPECT_EQ(rule([](auto& s) { s.min_alpha_share = 0.5; }), kKeep);
  EXPECT_EQ(rule([](auto& s) { s.min_alpha_share = 0.51; }), "too_few_letters");
  EXPECT_EQ(rule([](auto& s) { s.max_symbol_share = 0.3; }), kKeep);
  EXPECT_EQ(rule([](auto& s) { s.max_symbol_share = 0.29; }), "too_many_symbols");
}

}  // namespace
}  // namespace ingot
