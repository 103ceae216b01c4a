#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cli/process.h"
#include "support/own_folder.h"
#include "support/source_path.h"

namespace ingot::test {
namespace {

class PlanCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing_support::own_folder();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Outcome memory(std::vector<std::string> args) const {
    args.insert(args.begin(), {"plan", "memory"});
    args.emplace_back("--json");
    return run_ingot(args, folder_);
  }
  static nlohmann::json line_of(const Outcome& outcome) {
    const size_t end = outcome.out.find_last_not_of('\n');
    const size_t begin = outcome.out.rfind('\n', end);
    return nlohmann::json::parse(outcome.out.substr(begin + 1), nullptr, false);
  }

  std::filesystem::path folder_;
};

TEST_F(PlanCommand, MemoryOfAGpuThatIsNotHereIsKnownByCategory) {
  const Outcome outcome = memory({"--gpu", "h200", "--set", "preset=llama_1b"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("it fits"), std::string::npos) << outcome.out;
  const nlohmann::json line = line_of(outcome);
  EXPECT_EQ(line.at("device"), "NVIDIA H200");
  EXPECT_EQ(line.at("precision"), "bf16");
  EXPECT_GT(line.at("bytes").at("activations"), 0);
  EXPECT_GT(line.at("bytes_per_rank"), line.at("bytes").at("weights"));
}

TEST_F(PlanCommand, WhatDoesNotFitFailsAndSaysWhatWould) {
  const Outcome outcome =
      memory({"--gpu", "rtx4090", "--set", "preset=llama_1b", "--set", "batch.seq=4096"});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_NE(outcome.out.find("it does not fit: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("--set batch.micro_batch="), std::string::npos) << outcome.out;
  EXPECT_FALSE(line_of(outcome).at("fits"));
  EXPECT_FALSE(line_of(outcome).at("changes").empty());
}

TEST_F(PlanCommand, RanksHaveAGpuEachUnlessTheyShareIt) {
  const std::string recipe = testing_support::source_path("recipes/llama_7b.toml");
  const Outcome each = memory({recipe, "--gpu", "H100"});
  EXPECT_EQ(each.code, 0) << each.out;
  EXPECT_NE(each.out.find("8 ranks of one each"), std::string::npos) << each.out;
  const Outcome shared = memory({recipe, "--gpu", "h100", "--set", "system.share_gpu=true"});
  EXPECT_EQ(shared.code, 1) << shared.out;
}

TEST_F(PlanCommand, MemoryIsWhatTheBenchOfTheSameSettingsAllocates) {
  const std::vector<std::string> sets = {"--set", "preset=llama_tiny",  "--set", "batch.seq=64",
                                         "--set", "batch.micro_batch=2"};
  std::vector<std::string> planned = sets,
                           bench = {"bench",   "train",   "--preset", "llama_tiny", "--seq",
                                    "64",      "--batch", "2",        "--device",   "cpu",
                                    "--steps", "1",       "--json"};
  planned.insert(planned.end(), {"--set", "system.device=cpu"});
  const Outcome run = run_ingot(bench, folder_);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(line_of(memory(planned)).at("bytes_per_rank"), line_of(run).at("peak_bytes"));
}

TEST_F(PlanCommand, AnUnknownGpuIsRefusedWithTheNearestName) {
  const Outcome outcome = memory({"--gpu", "h20"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("did you mean h200?"), std::string::npos) << outcome.err;
}

TEST_F(PlanCommand, SettingsOfDataAreListedBesideThoseOfRuns) {
  const Outcome keys = run_ingot({"config", "keys", "--json"}, folder_);
  ASSERT_EQ(keys.code, 0) << keys.err;
  for (const char* row : {"| `optim.lr` |", "| `source.weight` |", "| `when_short` |",
                          "| `gopher_quality.min_words` |", "| `dedup.n_gram` |",
                          "| `decontaminate.query` |", "| `tokenize.shard_tokens` |"})
    EXPECT_NE(keys.out.find(row), std::string::npos) << row;
  std::set<std::string> sections;
  for (const auto& row : line_of(keys)) sections.insert(row.at("of"));
  EXPECT_TRUE(sections.contains("run") && sections.contains("data dedup"));
}

}  // namespace
}  // namespace ingot::test
