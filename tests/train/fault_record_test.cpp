#include "train/records/fault_record.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "core/error/error.h"
#include "feed/run_steps.h"
#include "ledger/records/run_ledger.h"
#include "support/ledger_contents.h"
#include "support/train_fixture.h"
#include "train/start/run_folder.h"

namespace ingot {
namespace {

Process rank_of(int rank, int world) {
  Process process;
  process.rank = rank, process.world = world;
  process.host = "node" + std::to_string(rank);
  return process;
}

std::vector<nlohmann::json> faults_in(Storage& storage, const std::string& dir) {
  std::vector<nlohmann::json> lines;
  std::istringstream text(read_text(storage, join_path(dir, kFaultsName)));
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

TEST(FaultRecord, SaysWhoWasLostAndWhatTheRankWasIn) {
  const auto storage = memory_storage();
  storage->make_directories("run");
  Watch watch;
  watch.at_step(7);
  { const Watched over(watch, "all_gather #11 of bf16 (512) among 0,1"); }
  const Watched in(watch, "all_gather #12 of bf16 (512) among 0,1");
  FaultRecord faults(storage, "run", rank_of(1, 2));
  faults.write({0, "connection broke"}, watch);
  const auto lines = faults_in(*storage, "run");
  ASSERT_EQ(lines.size(), 1u);
  const nlohmann::json& line = lines[0];
  EXPECT_EQ(line["rank"], 1);
  EXPECT_EQ(line["host"], "node1");
  EXPECT_EQ(line["step"], 7);
  EXPECT_EQ(line["lost"], 0);
  EXPECT_EQ(line["why"], "connection broke");
  EXPECT_EQ(line["in"].get<std::string>().find("step 7, in all_gather #12"), 0u) << line;
  ASSERT_EQ(line["last"].size(), 2u);
  EXPECT_EQ(line["last"][0].get<std::string>().find("all_gather #11"), 0u) << line;
  EXPECT_EQ(line["time"].get<std::string>().find("20"), 0u) << line;
}

// The host plane and the loop may both learn of it.
TEST(FaultRecord, IsWrittenOnceByEachRankWhoeverLearnsFirst) {
  const auto storage = memory_storage();
  storage->make_directories("run");
  constexpr int kRanks = 8;
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < kRanks; ++rank)
      threads.emplace_back([&, rank] {
        const Watch watch;
        FaultRecord faults(storage, "run", rank_of(rank, kRanks));
        std::jthread other([&] { faults.write({9, "silent"}, watch); });
        faults.write({9, "silent"}, watch);
      });
  }
  std::vector<int> seen(kRanks);
  for (const nlohmann::json& line : faults_in(*storage, "run")) ++seen[line["rank"].get<size_t>()];
  EXPECT_EQ(seen, std::vector<int>(kRanks, 1));
}

TEST(FaultRecord, MakesNoFolderAndThrowsNothing) {
  const auto storage = memory_storage();
  FaultRecord faults(storage, "run", rank_of(0, 2));
  faults.write({1, "gone"}, Watch());
  EXPECT_FALSE(storage->exists("run"));

  const auto base = memory_storage();
  base->make_directories("run");
  FaultRecord cut(faulty_storage(base, {.operations_before_cut = 0}), "run", rank_of(0, 2));
  cut.write({1, "gone"}, Watch());
}

// Rank 1 fails while rank 0 computes on and meets nobody.
TEST(LossWatch, WritesALossThatTheRankItselfHasNotMet) {
  const auto storage = memory_storage();
  storage->make_directories("run");
  const auto body = [&](World& world) {
    world.control().barrier("begin");
    if (world.rank() == 1) throw Error(ErrorCode::Data, "shard 7 is damaged");
    FaultRecord faults(storage, "run", world.process());
    const LossWatch watch(world, faults);
    const std::string path = join_path("run", kFaultsName);
    while (!storage->exists(path) || read_text(*storage, path).empty()) std::this_thread::yield();
  };
  EXPECT_THROW(run_local_ranks(2, Device::cpu(), body), Error);
  const auto lines = faults_in(*storage, "run");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["rank"], 0);
  EXPECT_EQ(lines[0]["lost"], 1);
  EXPECT_EQ(lines[0]["why"], "shard 7 is damaged");
}

class LostRanks : public test::TrainFixture {};

// Rank 1 asks for a stop and dies in the same moment.
class StopAndDie final : public Policy {
 public:
  explicit StopAndDie(std::atomic<bool>& stop) : stop_(stop) {}
  StepVerdict judge(const StepFacts& facts) override {
    if (facts.step < 3) return StepVerdict::Go;
    stop_ = true;
    throw Error(ErrorCode::Data, "shard 7 is damaged");
  }

 private:
  std::atomic<bool>& stop_;
};

TEST_F(LostRanks, AreNamedInTheRunsRecordsAndNothingIsSavedEvenIfAStopIsAskedFor) {
  for (const std::string layout : {"replicated", "fully_sharded"}) {
    const RunConfig run = config(layout, 10,
                                 {{"system.ranks", "3"},
                                  {"system.data_parallel", layout},
                                  {"batch.tokens", "96"},
                                  {"batch.micro_batch", "1"}});
    std::atomic<bool> stop = false;
    std::atomic<int> made = 0;
    const auto caller = std::this_thread::get_id();
    TrainOptions options;
    options.stop = &stop;
    options.policies = [&] {
      std::vector<std::unique_ptr<Policy>> policies;
      if (std::this_thread::get_id() != caller && ++made == 1)
        policies.push_back(std::make_unique<StopAndDie>(stop));
      return policies;
    };
    int lost = -1;
    try {
      test::train_locally(run, options);
      ADD_FAILURE() << "it went on";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Data);
      lost = error.rank();
    }
    const auto storage = posix_storage();
    const std::string dir = run.checkpoint.dir;
    EXPECT_TRUE(list_checkpoints(*storage, dir).empty());

    std::vector<int> survivors;
    for (const nlohmann::json& line : faults_in(*storage, dir)) {
      EXPECT_EQ(line["lost"], lost) << line;
      EXPECT_EQ(line["step"], 3) << line;
      EXPECT_NE(line["why"].get<std::string>().find("shard 7 is damaged"), std::string::npos)
          << line;
      EXPECT_GT(line["last"].size(), 2u) << line;
      survivors.push_back(line["rank"]);
    }
    std::ranges::sort(survivors);
    EXPECT_EQ(survivors, (std::vector<int>{0, 3 - lost}));

    const std::string ledger = join_path(dir, kRunLedgerName);
    const nlohmann::json last = test::read_ledger(*storage, ledger).records.back();
    EXPECT_EQ(last["kind"], "lost");
    EXPECT_EQ(last["rank"], lost);
    EXPECT_EQ(last["step"], 3);
    EXPECT_EQ(read_run_steps(*storage, ledger).held.back().end_step(), 4);  // «data seen»
  }
}

}  // namespace
}  // namespace ingot
