#include "spec/mixture_config.h"

#include <gtest/gtest.h>

#include "core/error.h"

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
  EXPECT_NE(refusal("").find("[[source]]"), std::string::npos);
  EXPECT_NE(refusal("source = 3").find("[[source]]"), std::string::npos);
  EXPECT_NE(refusal("[[source]]\npath=\"a\"\n[other]\n").find("nothing else"), std::string::npos);
  EXPECT_EQ(refusal("[[source]]\nweight = 1\n"), "mixes/a.toml:1: a source without a path");
  EXPECT_EQ(refusal("[[source]]\npath = \"a\"\nepochs = 1\n"),
            "mixes/a.toml:3: unknown key \"epochs\": expected path, weight or max_epochs");
  for (const std::string value : {"0", "-1", "nan", "inf", "\"1\"", "2e6"})
    EXPECT_EQ(refusal("[[source]]\npath = \"a\"\nweight = " + value + "\n"),
              "mixes/a.toml:3: weight: expected a number above 0 and at most 1000000");
}

}  // namespace
}  // namespace ingot
