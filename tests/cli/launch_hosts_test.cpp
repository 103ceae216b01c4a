// Training by `ingot launch`, on this machine and by ssh on three hosts, and with the variables
// that other launchers set.
#include <gtest/gtest.h>

#include "cli/ranks_fixture.h"

namespace ingot::test {
namespace {

class HostLaunch : public RanksFixture {
 protected:
  void SetUp() override {
    if (!Network::missing().empty()) GTEST_SKIP() << "hosts need " << Network::missing();
    RanksFixture::SetUp();
    network_ = std::make_unique<Network>(root_ / "network", 3);
  }
  void TearDown() override {
    if (root_.empty()) return;
    network_.reset();
    RanksFixture::TearDown();
  }

  // Three ranks on three hosts, started on the first.
  std::unique_ptr<Process> launch(const Args& train) {
    const Args launch = {"launch", "--hosts", "node1:1,node2:1,node3:1", "--"};
    return std::make_unique<Process>(with(launch, train), root_, network_->host(0).launcher());
  }
  void send_to_launch(int signal) const {
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string words = slurp(entry.path() / "cmdline");
      const bool is_launch = words.starts_with(program() + '\0' + "launch" + '\0');
      if (is_launch && words.find(path("run")) != std::string::npos)
        kill(std::stoi(entry.path().filename()), signal);
    }
  }
  // No rank of it is left, on any host.
  bool nobody_is_left() const {
    return comes_true(
        [&] { return rank_of("run", 0) < 0 && rank_of("run", 1) < 0 && rank_of("run", 2) < 0; });
  }
};

TEST_F(HostLaunch, GivesTheLossesOfThreads) {
  for (const std::string layout : {"replicated", "fully_sharded"}) {
    const Args sets = {"system.data_parallel=" + layout};
    const auto job = launch(run_args(layout, 6, sets));
    EXPECT_EQ(end_of(*job), 0) << job->err();
    EXPECT_EQ(losses(layout), undisturbed(3, 6, sets));
  }
}

TEST_F(HostLaunch, NamesARankThatWasKilledOrIsOutOfReachAndEndsTheOthers) {
  const auto resumes = [&] {
    const int64_t before = last_step("run");
    Args train = run_args("run", kEndless);
    if (before > 0) train.push_back("--resume");
    auto job = launch(train);
    EXPECT_TRUE(passes_step("run", before + 4)) << job->err();
    return job;
  };
  auto job = resumes();
  send("run", 1, SIGKILL);
  EXPECT_EQ(end_of(*job), 4) << job->err();
  EXPECT_NE(job->err().find("launch: rank 1 (host node2)"), std::string::npos) << job->err();
  EXPECT_TRUE(nobody_is_left());

  job = resumes();
  network_->drop_packets(2);  // but for ssh's
  EXPECT_EQ(end_of(*job), 4) << job->err();
  EXPECT_NE(job->err().find("rank 2"), std::string::npos) << job->err();
  EXPECT_TRUE(nobody_is_left());
  network_->deliver_packets(2);

  job = resumes();
  network_->pull_cable(2);  // and with it ssh
  EXPECT_EQ(end_of(*job), 4) << job->err();
  EXPECT_NE(job->err().find("launch: rank 2 (host node3)"), std::string::npos) << job->err();
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
  send_to_launch(SIGTERM);
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
