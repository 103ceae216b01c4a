// Settings, schedules and validation: docs/traps.md.
#include <nlohmann/json.hpp>

#include "support/small_shards.h"
#include "traps/trap.h"

namespace ingot::test {
namespace {

using Json = nlohmann::json;

class SettingsTrap : public Trap {
 protected:
  // A folder of 60 documents of about 60 tokens, as token shards.
  std::string shards() const {
    std::vector<testing_support::SmallDocument> documents;
    for (int i = 0; i < 60; ++i)
      documents.push_back({"web", "w" + std::to_string(i),
                           std::string(static_cast<size_t>(30 + 7 * (i % 11)), 'w')});
    testing_support::write_small_shards(path("shards"), documents, 500);
    return path("shards");
  }
};

TEST_F(SettingsTrap, AResumeThatChangesTheLearningRatesWantsToBeToldSo) {
  const std::string cosine = "optim.schedule.kind=cosine";
  ASSERT_EQ(ingot(train_args("run", {cosine})).code, 0);
  const Args longer = with(train_args("run", {cosine, "train.steps=12"}), {"--resume"});
  const Outcome refused = ingot(longer);
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_TRUE(contains(refused.err, "--accept-schedule")) << refused.err;
  EXPECT_TRUE(contains(refused.err, "train.steps (was 6, is 12)")) << refused.err;
  EXPECT_EQ(ingot(with(longer, {"--accept-schedule"})).code, 0);
}

TEST_F(SettingsTrap, MfuNamesThePeakItIsOf) {
  const Outcome plain = ingot(train_args("plain", {"system.device=cpu"}));
  EXPECT_TRUE(contains(plain.err, " % of measured")) << plain.err;
  const Outcome run = ingot(train_args("run", {"system.device=cpu", "system.peak_tflops=1"}));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.err, "(system.peak_tflops), ")) << run.err;
  EXPECT_TRUE(contains(run.err, " % of measured)")) << run.err;
}

TEST_F(SettingsTrap, APeakWithSparsityIsRefused) {
  const Outcome sparse = ingot(train_args("run", {"system.peak_tflops=1979"}));
  EXPECT_EQ(sparse.code, 2);
  EXPECT_TRUE(contains(sparse.err, "figure with sparsity")) << sparse.err;
  EXPECT_TRUE(contains(sparse.err, "989")) << sparse.err;
}

TEST_F(SettingsTrap, SettingsThatDoNothingAreNamed) {
  write("other.txt", "Another text, which is not that of the training.\n");
  const Outcome run =
      ingot(with(train_args("run", {"optim.muon_lr=0.05", "model.rope.factor=4",
                                    "data.valid_fraction=0.2", "data.valid=" + path("other.txt")}),
                 {"--dry-run"}));
  EXPECT_EQ(run.code, 0) << run.err;
  for (const char* part : {"setting=optim.muon_lr why=\"optim.kind is not muon\"",
                           "setting=model.rope.factor why=\"model.rope.scaling is none\"",
                           "setting=data.valid_fraction why=\"data.valid is set\""})
    EXPECT_TRUE(contains(run.err, part)) << part << ": " << run.err;
  const Outcome used = ingot(
      train_args("used", {"optim.kind=muon", "optim.muon_lr=0.05", "model.rope.scaling=linear",
                          "model.rope.factor=4", "data.valid_fraction=0.2", "train.eval_every=3"}));
  EXPECT_FALSE(contains(used.err, "no_effect")) << used.err;
  const Outcome unseen =
      ingot(train_args("unseen", {"data.valid_fraction=0", "train.eval_every=3"}));
  EXPECT_TRUE(contains(unseen.err, "setting=train.eval_every")) << unseen.err;
}

TEST_F(SettingsTrap, AnMfuAboveThePeakIsDoubted) {
  const Outcome run = ingot(train_args("run", {"system.device=cpu", "system.peak_tflops=1e-9"}));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.err, "above 100 %")) << run.err;
}

TEST_F(SettingsTrap, StepsOnTheCommandLineShortenARecipeOfTokens) {
  write("recipe.toml",
        "preset = \"llama_test\"\n[batch]\nmicro_batch = 2\nseq = 16\n[train]\ntotal_tokens = "
        "320\neval_tokens = 64\n");
  const Outcome run = ingot(with(train_args("run", {"train.steps=3"}), {"--json"}));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(result_of(run).at("step"), 3);
}

TEST_F(SettingsTrap, AWarmupLongerThanTheRunNamesTheSetThatShortensIt) {
  const std::string warmup = "optim.schedule.warmup=1000";  // tokens; the run has 192
  const Outcome refused = ingot(train_args("run", {warmup}));
  EXPECT_EQ(refused.code, 2);
  const std::string advice = "--set optim.schedule.warmup_fraction=0.05";
  EXPECT_TRUE(contains(refused.err, advice)) << refused.err;
  write("recipe.toml",
        "preset = \"llama_test\"\n[batch]\nmicro_batch = 2\nseq = 16\n[train]\nsteps = 6\n"
        "eval_tokens = 64\n[optim.schedule]\nwarmup = 1000\n");
  const Outcome taken = ingot(train_args("run", {"optim.schedule.warmup_fraction=0.05"}));
  EXPECT_EQ(taken.code, 0) << taken.err;
}

TEST_F(SettingsTrap, FullyShardedRanksValidateTogether) {
  const Args sets = {"system.ranks=2",     "system.data_parallel=fully_sharded",
                     "train.steps=4",      "batch.micro_batch=1",
                     "batch.tokens=32",    "train.eval_tokens=48",  // 3 sequences
                     "train.eval_every=2", "checkpoint.every=2"};
  const Outcome run = ingot(train_args("run", sets));
  ASSERT_EQ(run.code, 0) << run.err;
  fs::remove_all(root_ / "run" / "step_00000004");
  const Outcome resumed = ingot(with(train_args("run", sets), {"--resume"}));
  EXPECT_EQ(resumed.code, 0) << resumed.err;
}

TEST_F(SettingsTrap, ConfigShowChecksWhatItShows) {
  const Outcome bad = ingot({"config", "show", path("recipe.toml"), "--set", "batch.tokens=33"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_TRUE(contains(bad.err, "batch.tokens")) << bad.err;
  const Json good = result_of(ingot({"config", "show", path("recipe.toml"), "--json"}));
  EXPECT_EQ(good.at("settings").at("train.steps"), 6);
  EXPECT_EQ(good.at("parameters"), 35040);
  EXPECT_EQ(good.at("tokens"), 192);
  EXPECT_GT(good.at("bytes_per_rank"), 35040 * 16);
}

TEST_F(SettingsTrap, ADryRunSaysWhatARunWouldTakeAndLeavesNothing) {
  const Args dry = with(train_args("run"), {"--dry-run", "--json"});
  const Outcome before = ingot(dry);
  const Json plan = result_of(before);
  EXPECT_EQ(plan.at("steps"), 6);
  EXPECT_EQ(plan.at("tokens"), 192);
  EXPECT_GT(plan.at("epochs")[0].at("epochs"), 0.0);
  EXPECT_TRUE(plan.at("seconds").is_null());
  EXPECT_TRUE(contains(before.out, "unknown")) << before.out;
  EXPECT_FALSE(fs::exists(root_ / "run"));
  // Once these settings ran here, their speed is known.
  ASSERT_EQ(ingot(train_args("other")).code, 0);
  EXPECT_GT(result_of(ingot(dry)).at("seconds"), 0.0);
  EXPECT_FALSE(fs::exists(root_ / "run"));
}

TEST_F(SettingsTrap, EverySettingIsListedForProgramsToo) {
  const Json keys = result_of(ingot({"config", "keys", "--json"}));
  ASSERT_TRUE(keys.is_array());
  EXPECT_GT(keys.size(), 60u);
}

TEST_F(SettingsTrap, HeadsOfAnotherNumberAreOfAnotherWidth) {
  const Outcome show = ingot({"config", "show", path("recipe.toml"), "--set", "model.heads=2"});
  EXPECT_EQ(show.code, 0) << show.err;
  EXPECT_TRUE(contains(show.out, "\nhead_dim = 16\n")) << show.out;
}

TEST_F(SettingsTrap, TrainedPaddedAndUniqueTokensAreThreeNumbers) {
  const Args packed = {"data.train=" + shards(), "data.packing=best_fit", "train.steps=4"};
  const Outcome run = ingot(with(train_args("run", packed), {"--json"}));
  const Json end = result_of(run);
  EXPECT_EQ(end.at("trained_tokens").get<int64_t>() + end.at("padded_tokens").get<int64_t>(),
            4 * 32);
  EXPECT_GT(end.at("padded_tokens"), 0);
  EXPECT_EQ(end.at("unique_tokens"), end.at("trained_tokens"));
  EXPECT_TRUE(contains(run.out, " trained, ")) << run.out;
  for (const char* word : {" padded, ", " unique"}) {
    EXPECT_TRUE(contains(run.err, word)) << run.err;
    EXPECT_TRUE(contains(run.out, word)) << run.out;
  }
  const Json seen = result_of(ingot({"data", "seen", path("run"), "--json"}));
  for (const char* key : {"trained_tokens", "padded_tokens", "unique_tokens"}) {
    EXPECT_EQ(seen.at(key), end.at(key));
    EXPECT_TRUE(contains(slurp(root_ / "run" / "ledger.jsonl"), key)) << key;
  }
}

TEST_F(SettingsTrap, ShardsAreNotRepeatedUnlessItIsSaid) {
  const Args sets = {"data.train=" + shards(), "train.steps=200"};
  const Outcome refused = ingot(train_args("run", sets));
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "--set data.max_epochs=2")) << refused.err;
  EXPECT_FALSE(fs::exists(root_ / "run"));
  Args allowed = sets;
  allowed.push_back("data.max_epochs=2");
  const Outcome run = ingot(train_args("run", allowed));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.err, "data is repeated")) << run.err;
}

TEST_F(SettingsTrap, AnUnknownSettingNamesTheListOfAll) {
  const Outcome typo = ingot({"config", "show", "--set", "wandb=1"});
  EXPECT_EQ(typo.code, 2);
  EXPECT_TRUE(contains(typo.err, "ingot config keys")) << typo.err;
}

}  // namespace
}  // namespace ingot::test
