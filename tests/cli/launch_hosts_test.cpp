// Training by `ingot launch`, on this machine and by ssh on three hosts, and with the variables
// that other launchers set.
#include <gtest/gtest.h>

#include "cli/ranks_fixture.h"

namespace ingot::test {
namespace {

// On this machine.
class LocalLaunch : public RanksFixture {
 protected:
  Args launched(const Args& options, const Args& train) const {
    return with(with({"launch"}, options), with({"--"}, train));
  }
};

TEST_F(LocalLaunch, GivesTheLossesOfThreads) {
  for (const int ranks : {2, 3}) {
    const std::string run = "run" + std::to_string(ranks);
    Process job(launched({"-n", std::to_string(ranks)}, run_args(run, 6)), root_);
    EXPECT_EQ(end_of(job), 0) << job.err();
    EXPECT_EQ(losses(run), undisturbed(ranks, 6));
  }
}

TEST_F(LocalLaunch, VariablesAsTorchrunSetsThemAreEnough) {
  Ranks ranks = start_ranks(3, run_args("run", 6));
  for (auto& rank : ranks) EXPECT_EQ(end_of(*rank), 0) << rank->err();
  EXPECT_EQ(losses("run"), undisturbed(3, 6));
}

TEST_F(LocalLaunch, GoesOnByItselfAfterARankWasKilled) {
  constexpr int64_t kSteps = 120;
  Process job(launched({"-n", "3", "--restarts", "3"}, run_args("run", kSteps)), root_);
  for (const int culprit : {2, 0}) {
    ASSERT_TRUE(passes_step("run", last_step("run") + 4)) << job.err();
    send("run", culprit, SIGKILL);
    EXPECT_TRUE(comes_true([&] { return rank_of("run", culprit) < 0; }));
  }
  EXPECT_EQ(end_of(job), 0) << job.err();
  EXPECT_NE(job.err().find("rank 2"), std::string::npos) << job.err();
  EXPECT_EQ(losses("run"), undisturbed(3, kSteps));
}

class HostLaunch : public LocalLaunch {
 protected:
  void SetUp() override {
    if (!Network::missing().empty()) GTEST_SKIP() << "hosts need " << Network::missing();
    LocalLaunch::SetUp();
    network_ = std::make_unique<Network>(root_ / "network", 3);
  }
  void TearDown() override {
    if (root_.empty()) return;
    network_.reset();
    LocalLaunch::TearDown();
  }

  // Three ranks on three hosts, started on the first.
  std::unique_ptr<Process> launch(const Args& train) {
    return std::make_unique<Process>(launched({"-n", "3", "--hosts", "node1,node2,node3"}, train),
                                     root_, network_->host(0).launcher());
  }
  // No rank of it is left, on any host.
  bool nobody_is_left() const {
    return comes_true(
        [&] { return rank_of("run", 0) < 0 && rank_of("run", 1) < 0 && rank_of("run", 2) < 0; });
  }
};

TEST_F(HostLaunch, GivesTheLossesOfThreads) {
  const auto job = launch(run_args("run", 6));
  EXPECT_EQ(end_of(*job), 0) << job->err();
  EXPECT_EQ(losses("run"), undisturbed(3, 6));
}

TEST_F(HostLaunch, NamesARankThatWasKilledOrIsOutOfReachAndEndsTheOthers) {
  const auto goes_on = [&] {
    const int64_t before = last_step("run");
    Args train = run_args("run", kEndless);
    if (before > 0) train.push_back("--resume");
    auto job = launch(train);
    EXPECT_TRUE(passes_step("run", before + 4)) << job->err();
    return job;
  };
  auto job = goes_on();
  send("run", 1, SIGKILL);
  EXPECT_EQ(end_of(*job), 4) << job->err();
  EXPECT_NE(job->err().find("rank 1"), std::string::npos) << job->err();
  EXPECT_TRUE(nobody_is_left());

  job = goes_on();
  network_->drop_packets(2);  // but for ssh's
  EXPECT_EQ(end_of(*job), 4) << job->err();
  EXPECT_NE(job->err().find("rank 2"), std::string::npos) << job->err();
  EXPECT_TRUE(nobody_is_left());
  network_->deliver_packets(2);

  job = goes_on();
  network_->pull_cable(2);  // and with it ssh
  EXPECT_EQ(end_of(*job), 4) << job->err();
  EXPECT_NE(job->err().find("rank 2"), std::string::npos) << job->err();
  EXPECT_TRUE(nobody_is_left());
  network_->put_cable(2);

  const int64_t steps = last_step("run") + 3;
  job = launch(with(run_args("run", steps), {"--resume"}));
  EXPECT_EQ(end_of(*job), 0) << job->err();
  EXPECT_EQ(losses("run"), undisturbed(3, steps));
}

TEST_F(HostLaunch, SavesAndStopsEverywhereWhenAskedTo) {
  auto job = launch(run_args("run", kEndless));
  ASSERT_TRUE(passes_step("run", 4)) << job->err();
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string words = slurp(entry.path() / "cmdline");
    if (words.starts_with(program() + '\0' + "launch" + '\0' + "-n") &&
        words.find(path("run")) != std::string::npos) {
      kill(std::stoi(entry.path().filename()), SIGTERM);
    }
  }
  EXPECT_EQ(end_of(*job), 3) << job->err();
  EXPECT_TRUE(nobody_is_left());
  const int64_t steps = last_step("run") + 3;
  job = launch(with(run_args("run", steps), {"--resume"}));
  EXPECT_EQ(end_of(*job), 0) << job->err();
  EXPECT_EQ(losses("run"), undisturbed(3, steps));
}

TEST_F(HostLaunch, NamesAHostThatIsDown) {
  network_->power_off(2);
  const auto job = launch(run_args("run", 6));
  EXPECT_NE(end_of(*job), 0);
  EXPECT_NE(job->err().find("node3"), std::string::npos) << job->err();
  EXPECT_TRUE(nobody_is_left());
}

}  // namespace
}  // namespace ingot::test
