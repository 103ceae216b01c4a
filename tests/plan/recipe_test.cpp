// Every recipe, as far as a run goes without data and device: read, validated, resolved, laid out
// in the memory of the GPU it is for, and walked to its end.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "plan/fit.h"
#include "plan/resolve.h"
#include "support/source_path.h"

namespace ingot {
namespace {

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const auto& file :
       std::filesystem::directory_iterator(testing_support::source_path("recipes")))
    if (file.path().extension() == ".toml") names.push_back(file.path().stem().string());
  std::ranges::sort(names);
  return names;
}

class Recipes : public ::testing::TestWithParam<std::string> {
 protected:
  RunConfig config(const Overrides& overrides) const {
    const std::string path = testing_support::source_path("recipes/") + GetParam() + ".toml";
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    return parse_run_config(text, path, overrides);
  }
};
INSTANTIATE_TEST_SUITE_P(All, Recipes, ::testing::ValuesIn(recipe_names()),
                         [](const auto& one) { return one.param; });

TEST_P(Recipes, FitAndEndWhereTheySay) {
  const RunConfig recipe = config({});
  const DeviceFacts gpu = known_gpu("h100").value();
  const ResolvedRun run = resolve_elsewhere(recipe, gpu, 8);
  EXPECT_TRUE(fit_memory(run, gpu.memory_bytes).fits());

  StepWalk walk(run.steps);
  EXPECT_GT(walk.next().tokens, 0);
  walk.advance(run.steps.horizon.steps);
  EXPECT_TRUE(walk.at_end());
  if (recipe.train.total_tokens > 0) {
    EXPECT_GE(walk.at().tokens, recipe.train.total_tokens);
    EXPECT_LT(walk.at().tokens, recipe.train.total_tokens + run.config.batch.tokens);
  }
}

TEST_P(Recipes, CanBeShortened) {
  EXPECT_NO_THROW(ValidConfig(config({{"train.steps", "5"}})));
}

TEST_P(Recipes, AreWhatTheirFolderIsNamedFor) {
  EXPECT_EQ(config({}).checkpoint.dir, "runs/" + GetParam());
}

}  // namespace
}  // namespace ingot
