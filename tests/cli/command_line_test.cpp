#include "cli/frame/command_line.h"

#include <gtest/gtest.h>

#include "core/error/error.h"

namespace ingot::cli {
namespace {

using Words = std::vector<std::string>;

struct Program {
  Program() {
    program_.add_flag("-v,--verbose", verbose_, "")->everywhere();
    Command* group = program_.add_subcommand("group", "");
    Command* run = group->add_subcommand("run", "");
    run->add_option("first", first_, "")->required();
    run->add_option("rest", rest_, "");
    run->add_option("--count", count_, "")->positive();
    run->add_option("--share", share_, "")->between(0, 1);
    run->add_option("--set", sets_, "")->allow_extra_args(false);
    run->add_option("--many", many_, "");
    run->add_option("--memory", memory_, "")->size_in_bytes();
    run->add_option("--kind", kind_, "")->one_of({"red", "green"})->also("--is-red", "red");
    run->add_flag("--flag", flag_, "");
    run->add_setting(integer_setting("stage.n_gram", n_gram_, {1, 9}, "words", ""));
    run->add_setting(flag_setting("stage.keep_all", keep_all_, ""));
    run->callback([this] { return exit_; });
  }

  Exit give(const Words& words) {
    return program_.run(words, [] {});
  }

  Command program_{"prog", ""};
  bool verbose_ = false, flag_ = false;
  std::string first_, kind_;
  Words rest_, sets_, many_;
  int64_t count_ = 1, memory_ = 0, n_gram_ = 5;
  bool keep_all_ = false;
  double share_ = 0;
  Exit exit_ = Exit::Stopped;
};

class CommandLineTest : public ::testing::Test, public Program {};

// Of a program of its own.
std::string refusal(const Words& words) {
  try {
    Program().give(words);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Usage);
    return error.what();
  }
  return "";
}

TEST_F(CommandLineTest, AnOlderSpellingMeansItsOptionWithAValue) {
  give({"group", "run", "a", "--is-red"});
  EXPECT_EQ(kind_, "red");
  EXPECT_NE(refusal({"group", "run", "a", "--is-red", "--kind", "green"}).find("twice"),
            std::string::npos);
}

TEST_F(CommandLineTest, ADeclaredSettingIsAnOptionOfItsNameAndRange) {
  give({"group", "run", "a", "--n-gram", "7", "--keep-all"});
  EXPECT_EQ(n_gram_, 7);
  EXPECT_TRUE(keep_all_);
  EXPECT_EQ(refusal({"group", "run", "a", "--n-gram", "10"}),
            "--n-gram: expected a whole number from 1 to 9, got 10");
  EXPECT_EQ(refusal({"group", "run", "a", "--n-gram", "x"}),
            "--n-gram: expected a whole number from 1 to 9, got \"x\"");
}

TEST_F(CommandLineTest, OptionsArgumentsAndFlagsStandInAnyOrder) {
  EXPECT_EQ(give({"-v", "group", "run", "--count=3", "a", "--flag", "b", "--share", "0.5", "c"}),
            Exit::Stopped);
  EXPECT_TRUE(verbose_ && flag_);
  EXPECT_EQ(count_, 3);
  EXPECT_EQ(share_, 0.5);
  EXPECT_EQ(first_, "a");
  EXPECT_EQ(rest_, (Words{"b", "c"}));
}

TEST_F(CommandLineTest, WhatIsKnownEverywhereMayFollowTheCommand) {
  give({"group", "run", "a", "--verbose"});
  EXPECT_TRUE(verbose_);
}

TEST_F(CommandLineTest, ListsTakeOneValueAtATimeOrAllThatFollow) {
  give({"group", "run", "--set", "a=1", "x", "--set=b=2", "--many", "p", "q", "--flag", "y"});
  EXPECT_EQ(sets_, (Words{"a=1", "b=2"}));
  EXPECT_EQ(many_, (Words{"p", "q"}));
  EXPECT_EQ(first_, "x");
  EXPECT_EQ(rest_, (Words{"y"}));
}

TEST_F(CommandLineTest, ValuesMayBeginWithADashAndAfterTwoDashesAllIsArguments) {
  give({"group", "run", "--set", "-x", "--", "--flag", "-v"});
  EXPECT_EQ(sets_, (Words{"-x"}));
  EXPECT_EQ(first_, "--flag");
  EXPECT_EQ(rest_, (Words{"-v"}));
}

TEST_F(CommandLineTest, SizesHaveUnitsOfPowersOf1024) {
  give({"group", "run", "a", "--memory", "1.5 GiB"});
  EXPECT_EQ(memory_, int64_t{3} << 29);
}

TEST_F(CommandLineTest, RefusesWhatIsNoNumberOfItsType) {
  EXPECT_EQ(refusal({"group", "run", "a", "--count", "abc"}),
            "--count: expected a whole number, got «abc»");
  EXPECT_EQ(refusal({"group", "run", "a", "--count", "99999999999999999999"}),
            "--count: expected a smaller number, got «99999999999999999999»");
  EXPECT_EQ(refusal({"group", "run", "a", "--share", "nan"}),
            "--share: expected a number, got «nan»");
  EXPECT_EQ(refusal({"group", "run", "a", "--memory", "much"}),
            "--memory: expected a size such as 512MB or 4GB, got «much»");
}

TEST_F(CommandLineTest, RefusesNumbersOutsideTheirRangeAndNamesOutsideTheirList) {
  EXPECT_EQ(refusal({"group", "run", "a", "--share", "2"}),
            "--share: expected a number from 0 to 1, got «2»");
  EXPECT_EQ(refusal({"group", "run", "a", "--count", "0"}),
            "--count: expected a number above 0, got «0»");
  EXPECT_EQ(refusal({"group", "run", "a", "--kind", "gren"}),
            "--kind: expected one of red, green, got «gren»; did you mean green?");
}

TEST_F(CommandLineTest, RefusesWhatIsMissing) {
  EXPECT_EQ(refusal({"group"}), "expected one of run after prog group");
  EXPECT_NE(refusal({"group", "run"}).find("expected first"), std::string::npos);
  EXPECT_EQ(refusal({"group", "run", "a", "--count"}),
            "--count: expected a value (INT), got nothing");
}

TEST_F(CommandLineTest, AnOptionIsNotAnothersValue) {
  EXPECT_EQ(refusal({"group", "run", "a", "--count", "--flag"}),
            "--count: expected a value (INT), got --flag");
}

TEST_F(CommandLineTest, RefusesWhatIsTooMuch) {
  EXPECT_EQ(refusal({"group", "run", "a", "--flag=yes"}), "--flag: expected no value, got «yes»");
}

TEST_F(CommandLineTest, WhatIsGivenTwiceIsRefused) {
  EXPECT_EQ(refusal({"group", "run", "a", "--count", "1", "--count", "2"}),
            "--count was given twice: expected it once");
}

TEST_F(CommandLineTest, UnknownNamesGetTheNearest) {
  EXPECT_EQ(refusal({"gruop"}), "unknown command gruop; did you mean group?");
  EXPECT_EQ(refusal({"group", "run", "a", "--conut", "1"}),
            "unknown option --conut; did you mean --count?");
  EXPECT_EQ(refusal({"group", "run", "a", "--unlike-any"}),
            "unknown option --unlike-any; see prog group run --help");
}

}  // namespace
}  // namespace ingot::cli
