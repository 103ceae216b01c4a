#include "spec/settings/said_settings.h"

#include <gtest/gtest.h>

#include "core/error/error.h"
#include "spec/run/run_config.h"

namespace ingot {
namespace {

TEST(SaidSettings, AnOverrideComesBeforeTheRecipeAndTheLastOfSeveral) {
  const Overrides overrides = {{"train.steps", "1"}, {"train.steps", "2"}};
  const SaidSettings said("train.steps = 3\n[model]\nheads = 4\nrope.theta = 2.5\n", "r",
                          overrides);
  EXPECT_EQ(said.find("train.steps"), "2");
  EXPECT_TRUE(said.is_overridden("train.steps"));
  EXPECT_EQ(said.find("model.heads"), "4");
  EXPECT_EQ(said.find("model.rope.theta"), "2.5");
  EXPECT_FALSE(said.is_overridden("model.heads"));
  for (const char* name : {"model.dim", "data.train", "model.heads.x", ""})
    EXPECT_FALSE(said.has(name)) << name;
}

double minutes(const std::string& recipe, const Overrides& overrides) {
  return parse_run_config(recipe, "r", overrides).checkpoint.minutes;
}

TEST(CheckpointMinutes, AreTheDefaultOfWhoDoesNotSayAfterHowManySteps) {
  EXPECT_EQ(minutes("", {}), 10.0);
  EXPECT_EQ(minutes("checkpoint.keep = 3\n", {}), 10.0);
  for (const char* every : {"0", "500"}) {
    const std::string recipe = std::string("checkpoint.every = ") + every + "\n";
    EXPECT_EQ(minutes(recipe, {}), 0.0);
    EXPECT_EQ(minutes("", {{"checkpoint.every", every}}), 0.0);
    EXPECT_EQ(minutes(recipe + "checkpoint.minutes = 3\n", {}), 3.0);
    EXPECT_EQ(minutes(recipe, {{"checkpoint.minutes", "0.5"}}), 0.5);
  }
  // A dump has both; to ask for none by steps is then to ask for none at all.
  const std::string dump = to_toml(parse_run_config("", "", {}));
  EXPECT_EQ(minutes(dump, {}), 10.0);
  EXPECT_EQ(minutes(dump, {{"checkpoint.every", "100"}}), 10.0);
  EXPECT_EQ(minutes(dump, {{"checkpoint.every", "0"}}), 0.0);
}

TEST(KvHeads, FollowTheHeadsByThePresetsRatioUnlessSet) {
  const auto kv_heads = [](const Overrides& overrides) {
    return parse_run_config("", "r", overrides).model.kv_heads;
  };
  EXPECT_EQ(kv_heads({{"model.heads", "4"}}), 4);
  EXPECT_EQ(kv_heads({{"preset", "llama_1b"}, {"model.heads", "16"}}), 4);
  EXPECT_EQ(kv_heads({{"preset", "llama_1b"}, {"model.heads", "16"}, {"model.kv_heads", "8"}}), 8);
  EXPECT_EQ(kv_heads({{"preset", "llama_1b"}, {"model.kv_heads", "0"}}), 8);
  EXPECT_THROW(kv_heads({{"preset", "llama_1b"}, {"model.heads", "2"}}), Error);
  RunConfig base;
  base.preset = kNoPreset;
  base.model = model_preset("llama_test");
  EXPECT_EQ(parse_run_config("", "r", {}, base).model, base.model);
  // A dump keeps what it has.
  const std::string dump =
      to_toml(parse_run_config("", "", {{"preset", "llama_1b"}, {"model.kv_heads", "16"}}));
  EXPECT_EQ(parse_run_config(dump, "dump", {}).model.kv_heads, 16);
}

}  // namespace
}  // namespace ingot
