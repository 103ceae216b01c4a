#include "spec/run/mixture_config.h"

#include <gtest/gtest.h>

#include "core/error/error.h"

namespace ingot {
namespace {

std::string refusal(std::string_view text) {
  try {
    parse_mixture(text, "mixes/a.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Config);
    return error.what();
  }
  return "accepted";
}

TEST(MixtureConfig, GivesItsSources) {
  const auto sources = parse_mixture(
      "[[source]]\npath = \"web\"\nweight = 0.7\n[[source]]\npath = \"/books\"\nweight = 3\n"
      "max_epochs = 2\n",
      "mixes/a.toml");
  ASSERT_EQ(sources.size(), 2u);
  EXPECT_EQ(sources[0].path, "mixes/web");  // relative to the file
  EXPECT_EQ(sources[0].weight, 0.7);
  EXPECT_EQ(sources[0].max_epochs, 0);
  EXPECT_EQ(sources[1].path, "/books");
  EXPECT_EQ(sources[1].weight, 3);
  EXPECT_EQ(sources[1].max_epochs, 2);
}

TEST(MixtureConfig, RefusesWhatItDoesNotKnowWithTheLine) {
  EXPECT_EQ(refusal(""), "mixes/a.toml: expected at least one [[source]] with a path");
  EXPECT_EQ(refusal("source = 3"), "mixes/a.toml:1: source: expected sections [[source]]");
  EXPECT_EQ(refusal("source = [3]"), "mixes/a.toml:1: source: expected sections [[source]]");
  EXPECT_EQ(refusal("[[source]]\npath=\"a\"\n[[sources]]\n"),
            "mixes/a.toml:3: unknown setting \"sources\"; did you mean \"source\"? `ingot config "
            "keys` lists them all");
  EXPECT_EQ(refusal("preset = \"a\"\n"),
            "mixes/a.toml:1: unknown setting \"preset\"; `ingot config keys` lists them all");
  EXPECT_EQ(refusal("[[source]]\nweight = 1\n"), "mixes/a.toml:1: a source without a path");
  EXPECT_EQ(refusal("[[source]]\npath = \"a\"\nmax_epoch = 1\n"),
            "mixes/a.toml:3: unknown setting \"source.max_epoch\"; did you mean "
            "\"source.max_epochs\"? `ingot config keys` lists them all");
  for (const std::string value : {"0", "-1", "nan", "inf", "\"1\"", "2000000"})
    EXPECT_EQ(
        refusal("[[source]]\npath = \"a\"\nweight = " + value + "\n"),
        "mixes/a.toml:3: source.weight: expected a number above 0, at most 1000000, got " + value);
}

}  // namespace
}  // namespace ingot
