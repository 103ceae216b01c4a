// ingot bench: what it measures is the machine's affair, what it says it measured is not.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/process.h"
#include "support/own_folder.h"

namespace ingot::test {
namespace {

using Args = std::vector<std::string>;

class Bench : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = testing_support::own_folder();
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  Outcome bench(Args args, const Args& more = {}) const {
    args.insert(args.begin(), "bench");
    args.insert(args.end(), more.begin(), more.end());
    return run_ingot(args, root_);
  }
  // Of a bench that succeeds: its last line.
  nlohmann::json json_of(Args args, const Args& more = {}) const {
    args.push_back("--json");
    const Outcome outcome = bench(args, more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return nlohmann::json::parse(
        outcome.out.substr(outcome.out.rfind('\n', outcome.out.size() - 2) + 1));
  }
  // Wrong usage, answered by a line with `words` and no result.
  void expect_refused(const Args& args, const Args& more, const std::string& words) const {
    const Outcome outcome = bench(args, more);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
    EXPECT_LT(outcome.err.size(), 300u) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }

  std::filesystem::path root_;
};

Args tiny(const std::string& command, const Args& more = {}) {
  Args args = {command, "--preset", "llama_test", "--batch", "2", "--seq", "16"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

Args with(Args args, const Args& more) {
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

TEST_F(Bench, TrainSaysWhatItMeasured) {
  const auto line = json_of(tiny("train", {"--steps", "2", "--limit", "--device", "cpu"}));
  for (const char* key :
       {"tok_s", "step_ms", "mfu_measured", "peak_flops", "limit_tok_s", "start_s", "first_step_s",
        "peak_bytes", "predicted_bytes", "loss", "threads"})
    EXPECT_TRUE(line.contains(key)) << key;
  EXPECT_EQ(line.at("peak_bytes"), line.at("predicted_bytes"));
  EXPECT_GT(line.at("mfu_full_measured").get<double>(), line.at("mfu_measured").get<double>());
  for (const char* key : {"mfu", "mfu_full", "datasheet_flops"})  // a CPU has no data sheet
    EXPECT_TRUE(line.at(key).is_null()) << key;
  EXPECT_EQ(line.at("steps"), 2);
  EXPECT_EQ(line.at("device"), "cpu");
  EXPECT_EQ(line.at("gpu"), "");
  EXPECT_EQ(line.at("precision"), "fp32");
  EXPECT_EQ(line.at("peak_dtype"), "f32");
  EXPECT_EQ(line.at("deterministic"), true);
  EXPECT_EQ(line.at("recompute"), "selective");
}

// Any setting may come by --set, those that have a flag too.
TEST_F(Bench, FiguresAreOfTheResolvedConfig) {
  const Args sets = {"--set", "preset=llama_test",   "--set", "batch.micro_batch=3",
                     "--set", "batch.seq=8",         "--set", "system.threads=1",
                     "--set", "train.recompute=full"};
  const Args train = {"train", "--steps", "1", "--device", "cpu"};
  const auto trained = json_of(train, sets);
  for (const auto& line : {trained, json_of({"limit", "--device", "cpu"}, sets)}) {
    EXPECT_EQ(line.at("preset"), "llama_test");
    EXPECT_EQ(line.at("batch"), 3);
    EXPECT_EQ(line.at("seq"), 8);
    EXPECT_EQ(line.at("threads"), 1);
  }
  EXPECT_EQ(trained.at("recompute"), "full");
  EXPECT_NE(bench(train, sets).out.find("llama_test B 3 T 8 fp32 on cpu, 1 threads"),
            std::string::npos);
}

TEST_F(Bench, ADocumentMaskIsMeasuredOnDocuments) {
  const auto train = tiny("train", {"--steps", "1", "--device", "cpu"});
  const auto masked = json_of(train, {"--set", "train.document_mask=true"});
  EXPECT_EQ(masked.at("document_mask"), true);
  EXPECT_NE(masked.at("loss"), json_of(train).at("loss"));
}

TEST_F(Bench, TrainRunsInFp64) {
  const Args train = tiny("train", {"--steps", "1", "--device", "cpu", "--precision", "fp64"});
  const auto line = json_of(train);
  EXPECT_EQ(line.at("precision"), "fp64");
  EXPECT_EQ(line.at("peak_bytes"), line.at("predicted_bytes"));
  EXPECT_NE(bench(train).out.find("measured in f32"), std::string::npos);
}

TEST_F(Bench, TrainOfSeveralRanksCountsTheTokensOfAll) {
  const Args train = tiny("train", {"--steps", "2", "--device", "cpu"});
  const Args sharded = {"--set", "system.data_parallel=fully_sharded"};
  for (const Args& more : {Args{}, sharded}) {
    const auto line = json_of(with(train, {"-n", "3"}), more);
    EXPECT_EQ(line.at("ranks"), 3);
    EXPECT_NEAR(line.at("tok_s").get<double>() * line.at("step_ms").get<double>() / 1e3, 3 * 2 * 16,
                1e-6);
    ASSERT_EQ(line.at("memory").size(), 3u);
    for (const auto& rank : line.at("memory"))
      EXPECT_EQ(rank.at("peak_bytes"), rank.at("predicted_bytes"));
  }
}

TEST_F(Bench, ACommunicatorsCostIsMeasuredOnOneRank) {
  const Args train = tiny("train", {"--steps", "2", "--device", "cpu", "--communicator"});
  const auto line = json_of(train);
  EXPECT_GT(line.at("communicator_step_ms").get<double>(), 0.0);
  EXPECT_TRUE(line.contains("communicator_cost"));
  expect_refused(with(train, {"-n", "2"}), {}, "leave one of them out");
}

TEST_F(Bench, CommComparesCollectivesWithTheLink) {
  const Args comm = tiny("comm", {"--device", "cpu", "--seconds", "0.2"});
  const auto line = json_of(with(comm, {"-n", "2"}));
  EXPECT_EQ(line.at("ranks"), 2);
  EXPECT_GT(line.at("limit_bytes_s").get<double>(), 0.0);
  ASSERT_EQ(line.at("collectives").size(), 7u);
  for (const auto& row : line.at("collectives")) {
    EXPECT_GT(row.at("seconds").get<double>(), 0.0);
    EXPECT_GT(row.at("share_of_limit").get<double>(), 0.0);
  }
  expect_refused(comm, {}, "give -n 2");

  const Outcome launched =
      run_ingot(with(Args{"launch", "-n", "2", "--", "bench"}, with(comm, {"--json"})), root_);
  EXPECT_EQ(launched.code, 0) << launched.err;
  EXPECT_NE(launched.out.find("one plain socket from each rank to the next"), std::string::npos)
      << launched.out;
}

TEST_F(Bench, LimitListsItsParts) {
  const auto limit = tiny("limit", {"--device", "cpu", "--precision", "bf16"});
  const auto line = json_of(limit);
  for (const char* key :
       {"limit_tok_s", "gemm_ms", "memory_ms", "gemm_share", "peak_flops", "copy_bytes_s"})
    EXPECT_GT(line.at(key).get<double>(), 0) << key;
  EXPECT_EQ(line.at("device"), "cpu");
  EXPECT_EQ(line.at("precision"), "bf16");
  const auto optimizer = line.at("parts").back();
  EXPECT_EQ(optimizer.at("name"), "optimizer");

  const auto narrow = json_of(limit, {"--set", "optim.moments=bf16"});
  EXPECT_LT(narrow.at("parts").back().at("bytes"), optimizer.at("bytes"));
}

TEST_F(Bench, OpsMeasuresOneOp) {
  const auto line = json_of({"ops", "--op", "rope", "--device", "cpu"});
  ASSERT_FALSE(line.at("ops").empty());
  for (const auto& row : line.at("ops")) {
    EXPECT_EQ(row.at("op"), "rope");
    EXPECT_EQ(row.at("dtype"), "f32");
    EXPECT_EQ(row.at("device"), "cpu");
    EXPECT_GT(row.at("percent_of_roofline").get<double>(), 0);
  }
}

TEST_F(Bench, WhatWouldBeIgnoredIsRefused) {
  for (const char* command : {"train", "limit"})
    expect_refused(tiny(command), {"--set", "batch.tokens=64"}, "raise batch.micro_batch");
  expect_refused(tiny("limit"), {"--set", "system.ranks=2"}, "one rank");
  expect_refused(tiny("train"), {"--limit", "--set", "optim.kind=muon"}, "optim.kind=adamw");
  expect_refused(tiny("limit"), {"--set", "optim.kind=muon"}, "optim.kind=adamw");
  expect_refused(tiny("limit"), {"--set", "train.document_mask=true"}, "document_mask=false");
  expect_refused(tiny("limit"), {"--precision", "fp64"}, "train.precision=fp32");
  expect_refused(tiny("train"), {"--limit", "--precision", "fp64"}, "train.precision=fp32");
  expect_refused(tiny("limit"), {"--recompute", "full"}, "--recompute");
  expect_refused(tiny("train"), {"--steps", "0"}, "expected a number above 0, got «0»");
  expect_refused({"ops"}, {"--op", "nonsense"}, "choose from swiglu, ");
}

}  // namespace
}  // namespace ingot::test
