#include "train/hooks/slow_ranks.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "core/async/ticket.h"
#include "ledger/records/run_ledger.h"
#include "support/ledger_contents.h"
#include "support/train_fixture.h"
#include "train/step/step_timer.h"

namespace ingot {
namespace {

// Ranks that compute so long and wait for the slowest.
std::vector<RankTime> step_of(const std::vector<double>& own) {
  const double slowest = *std::max_element(own.begin(), own.end());
  std::vector<RankTime> ranks;
  for (const double time : own) ranks.push_back({slowest, slowest - time});
  return ranks;
}

std::optional<SlowRank> after(SlowRanks& watch, int steps, const std::vector<double>& own) {
  std::optional<SlowRank> found;
  for (int step = 0; step < steps; ++step) found = watch.after_step(step_of(own));
  return found;
}

TEST(SlowRanks, NamesTheRankThatTheOthersWaitFor) {
  for (const size_t ranks : {2, 3, 8})
    for (size_t slow = 0; slow < ranks; ++slow) {
      std::vector<std::string> hosts(ranks);
      hosts[slow] = "node7";
      SlowRanks watch(hosts);
      std::vector<double> own(ranks, 1.0);
      own[slow] = 1.4;
      EXPECT_FALSE(after(watch, kSlowWindow - 1, own)) << "before the window is full";
      const auto found = after(watch, 1, own);
      ASSERT_TRUE(found) << ranks << " ranks";
      EXPECT_EQ(found->rank, static_cast<int>(slow));
      EXPECT_EQ(found->host, "node7");
      EXPECT_NEAR(found->factor, 1.4, 1e-9);
    }
}

TEST(SlowRanks, NamesNobodyWhereRanksDifferLittle) {
  SlowRanks watch(std::vector<std::string>(4));
  EXPECT_FALSE(after(watch, 100, {1.0, 1.2, 1.0, 0.9}));
}

// Hosts of GPUs, which compute little themselves: rank 0 writes the records.
TEST(SlowRanks, NamesNobodyForTimeThatNoStepIsLongerBy) {
  SlowRanks watch(std::vector<std::string>(2));
  const std::vector<RankTime> ranks = {{1.0, 0.93}, {1.0, 0.97}};
  for (int step = 0; step < 100; ++step) EXPECT_FALSE(watch.after_step(ranks));
}

TEST(SlowRanks, OneLongStepNamesNobody) {
  SlowRanks watch(std::vector<std::string>(2));
  for (int round = 0; round < 10; ++round) {
    EXPECT_FALSE(after(watch, 1, {1.0, 60.0}));
    EXPECT_FALSE(after(watch, 9, {1.0, 1.0}));
  }
}

TEST(SlowRanks, LogsOnceUntilItChanges) {
  SlowRanks watch({"a", "b", "c"});
  const auto logged = [&](int steps, const std::vector<double>& own) {
    ::testing::internal::CaptureStderr();
    after(watch, steps, own);
    return ::testing::internal::GetCapturedStderr();
  };
  const std::string first = logged(100, {1.0, 1.5, 1.0});
  EXPECT_NE(first.find("warning slow_rank rank=1 host=b factor=1.50"), std::string::npos) << first;
  EXPECT_EQ(first.find("slow_rank", first.find("slow_rank") + 1), std::string::npos) << first;
  EXPECT_EQ(logged(100, {1.0, 1.2, 1.0}), "") << "at the edge it stays";
  const std::string other = logged(100, {1.0, 1.0, 2.0});
  EXPECT_NE(other.find("slow_rank rank=2 host=c factor="), std::string::npos) << other;
  EXPECT_NE(logged(100, {1.0, 1.0, 1.0}).find("slow_rank_over rank=2"), std::string::npos);
}

TEST(StepTimer, WaitsForTicketsAreNotARanksOwnTime) {
  const auto pending = std::make_shared<PendingWork>("work");
  StepTimer timer;
  timer.begin();
  std::jthread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    pending->settle(nullptr);
  });
  timer.waiting([&] {
    Ticket(pending).wait();
    return 0;
  });
  const RankTime time = timer.so_far();
  EXPECT_GE(time.waits, 0.02);
  EXPECT_LE(time.waits, time.seconds);
  timer.agreed();
  timer.end();
}

TEST(StepTimer, WaitsForSamplesAreTold) {
  using Clock = std::chrono::steady_clock;
  StepTimer timer;
  const int batch = 7;
  for (int step = 0; step < 2; ++step) {
    timer.begin();
    const int& read = timer.reading([&]() -> const int& {
      for (const auto end = Clock::now() + std::chrono::milliseconds(2); Clock::now() < end;) {
      }
      return batch;
    });
    EXPECT_EQ(&read, &batch);
    const RankTime time = timer.so_far();
    EXPECT_GE(time.data, 0.002);
    EXPECT_LE(time.data, time.seconds);
    timer.agreed();
    timer.end();
    timer.begin();
    EXPECT_EQ(timer.so_far().data, 0.0) << "of the last step";
  }
}

TEST(StepTimer, OfMoreThan64RanksARecordHasTheExtremes) {
  std::vector<RankTime> ranks;
  for (int rank = 0; rank < 64; ++rank)
    ranks.push_back({.seconds = 2.0 + rank, .waits = 1.0, .data = 0.25});
  EXPECT_EQ(std::get<std::vector<double>>(ranks_of_step(ranks).seconds).size(), 64u);
  ranks.push_back({.seconds = 1.0, .waits = 1.0, .data = 0.25});
  EXPECT_EQ(ranks_of_step(ranks).seconds,
            Spread(Extremes{.min = 1.0, .median = 33.0, .max = 65.0}));
  EXPECT_EQ(mean_of(ranks, &RankTime::data), 0.25);
}

class SlowRankRuns : public test::TrainFixture {};

// One rank takes its time after every step.
class Slow final : public Policy {
 public:
  StepVerdict judge(const StepFacts&) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
    return StepVerdict::Go;
  }
};

TEST_F(SlowRankRuns, ASlowRankIsNamedInTheLedger) {
  for (const bool caller_is_slow : {true, false}) {  // rank 0, or rank 1
    const std::string name = caller_is_slow ? "first" : "second";
    const auto caller = std::this_thread::get_id();
    TrainOptions options;
    options.policies = [&] {
      std::vector<std::unique_ptr<Policy>> policies;
      if ((std::this_thread::get_id() == caller) == caller_is_slow)
        policies.push_back(std::make_unique<Slow>());
      return policies;
    };
    test::train_locally(
        config(name, kSlowWindow + 2,
               {{"system.ranks", "2"}, {"batch.tokens", "32"}, {"batch.micro_batch", "1"}}),
        options);
    const auto records =
        test::read_ledger(*posix_storage(), (root_ / name / kRunLedgerName).string()).records;
    int64_t named = 0;
    for (const nlohmann::json& record : records) {
      if (record["kind"] != "step") continue;
      ASSERT_EQ(record["ranks"]["seconds"].size(), 2u) << record;
      ASSERT_EQ(record["ranks"]["waits"].size(), 2u) << record;
      if (!record.contains("slow_rank")) continue;
      ++named;
      EXPECT_EQ(record["slow_rank"]["rank"], caller_is_slow ? 0 : 1) << record;
      EXPECT_GT(record["slow_rank"]["factor"], 1.25) << record;
    }
    EXPECT_GE(named, 1);
  }
}

TEST_F(SlowRankRuns, OneRanksLedgerKnowsNoRanks) {
  test::Recorder recorder;
  test::run(config("run", 2), recorder);
  for (const nlohmann::json& record :
       test::read_ledger(*posix_storage(), (root_ / "run" / kRunLedgerName).string()).records)
    EXPECT_TRUE(record["kind"] != "step" || !record.contains("ranks")) << record;
}

}  // namespace
}  // namespace ingot
