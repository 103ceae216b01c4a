// What is left of a run of three hosts when a rank, a host or the network between them fails: every
// rank that is left says who is lost, in bounded time, and the run goes on as if nothing had been.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "cli/ranks_fixture.h"

namespace ingot::test {
namespace {

constexpr int kRanks = 3;
// Exit codes: of a rank that others have left, of one whose settings cannot be.
constexpr int kLost = 4, kRefused = 2;

class RankFaults : public RanksFixture {
 protected:
  void SetUp() override {
    if (!Network::missing().empty()) GTEST_SKIP() << "hosts need " << Network::missing();
    RanksFixture::SetUp();
    network_ = std::make_unique<Network>(root_ / "network", kRanks);
  }
  void TearDown() override {
    if (root_.empty()) return;
    network_.reset();
    RanksFixture::TearDown();
  }

  // Starts the run, or goes on with it, and returns when it has made some steps of its own.
  Ranks running(const Args& sets = {}) {
    const int64_t before = last_step("run");
    Args train = run_args("run", kEndless, sets);
    if (before > 0) train.push_back("--resume");
    Ranks ranks = start_ranks(kRanks, train);
    EXPECT_TRUE(passes_step("run", before + 4)) << ranks[0]->err();
    return ranks;
  }

  // Every other rank ends with exit code 4, says that `culprit` is lost and writes it down.
  void expect_named(Ranks& ranks, int culprit) const {
    for (int r = 0; r < kRanks; ++r) {
      if (r == culprit) continue;
      Process& rank = *ranks[static_cast<size_t>(r)];
      EXPECT_EQ(end_of(rank), kLost) << "rank " << r << ": " << rank.err();
      EXPECT_NE(rank.err().find("rank " + std::to_string(culprit)), std::string::npos)
          << "rank " << r << " does not name rank " << culprit << ": " << rank.err();
      EXPECT_EQ(recorded_losses("run")[r], culprit) << "rank " << r;
    }
  }

  // A stopped rank goes on; nsenter, which started it, stops with it.
  void resume(const Ranks& ranks, int rank) const {
    send("run", rank, SIGCONT);
    ranks[static_cast<size_t>(rank)]->signal(SIGCONT);
  }

  // Goes on for some steps, to a proper end, and compares with a run that was never disturbed.
  void expect_undisturbed_losses(const Args& sets = {}) {
    const int64_t steps = last_step("run") + 3;
    Ranks ranks = start_ranks(kRanks, with(run_args("run", steps, sets), {"--resume"}));
    for (auto& rank : ranks) EXPECT_EQ(end_of(*rank), 0) << rank->err();
    EXPECT_EQ(losses("run"), undisturbed(kRanks, steps, sets));
  }
};

TEST_F(RankFaults, AKilledRankIsNamedByAllOthers) {
  for (int culprit = 0; culprit < kRanks; ++culprit) {
    fs::remove(path("run/faults.jsonl"));
    Ranks ranks = running();
    send("run", culprit, SIGKILL);
    expect_named(ranks, culprit);
  }
  expect_undisturbed_losses();
}

// It wakes up when the others are gone, and has to go as well.
TEST_F(RankFaults, AStoppedRankIsNamedByAllOthersAndEndsOnceItGoesOn) {
  for (const int culprit : {0, 1}) {
    Ranks ranks = running();
    send("run", culprit, SIGSTOP);
    expect_named(ranks, culprit);
    resume(ranks, culprit);
    EXPECT_EQ(end_of(*ranks[static_cast<size_t>(culprit)]), kLost);
  }
  expect_undisturbed_losses();
}

TEST_F(RankFaults, ARankThatNoPacketReachesIsNamedAndEndsToo) {
  Ranks ranks = running();
  network_->drop_packets(2);
  expect_named(ranks, 2);
  EXPECT_EQ(end_of(*ranks[2]), kLost) << ranks[2]->err();
  network_->deliver_packets(2);
  ranks = running();
  network_->drop_packets(0);  // where all meet
  expect_named(ranks, 0);
  EXPECT_EQ(end_of(*ranks[0]), kLost) << ranks[0]->err();
  network_->deliver_packets(0);
  expect_undisturbed_losses();
}

TEST_F(RankFaults, AHostWithoutCableCardOrPowerIsNamed) {
  Ranks ranks = running();
  network_->pull_cable(2);
  expect_named(ranks, 2);
  EXPECT_EQ(end_of(*ranks[2]), kLost) << ranks[2]->err();
  network_->put_cable(2);
  ranks = running();
  network_->power_off(1);
  expect_named(ranks, 1);
  network_->power_on(1);
  ranks = running();
  network_->remove_card(2);
  expect_named(ranks, 2);
  EXPECT_EQ(end_of(*ranks[2]), kLost) << ranks[2]->err();
  network_->insert_card(2);
  expect_undisturbed_losses();
}

// Tensors that no socket buffer holds are under way.
const Args kLarge = {"model.dim=256", "model.ffn=1024"};

TEST_F(RankFaults, ARankThatIsSlowForLessThanTheDeadlineIsWaitedFor) {
  Ranks ranks = running(kLarge);
  for (int pause = 0; pause < 2; ++pause) {
    send("run", 1, SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    resume(ranks, 1);
    EXPECT_TRUE(passes_step("run", last_step("run") + 1));
  }
  for (auto& rank : ranks) EXPECT_TRUE(rank->is_running()) << rank->err();
  send("run", 2, SIGSTOP);
  expect_named(ranks, 2);
  send("run", 2, SIGKILL);
  expect_undisturbed_losses(kLarge);
}

TEST_F(RankFaults, NobodySavesOnceARankIsLost) {
  Ranks ranks = running({"checkpoint.every=100000"});
  send("run", 2, SIGSTOP);
  send("run", 0, SIGTERM);  // «save and stop», which needs all ranks
  expect_named(ranks, 2);
  for (const auto& entry : fs::directory_iterator(path("run"))) {
    EXPECT_FALSE(entry.is_directory()) << entry.path();
  }
}

// Port 22 is the sshd's, which also answers the others, in its own way.
TEST_F(RankFaults, APortThatIsTakenIsNamed) {
  const Args train = run_args("run", 4, {"system.timeout_start=3"});
  Ranks ranks;
  for (int r = 0; r < kRanks; ++r) ranks.push_back(start_rank(r, kRanks, train, 22));
  for (int r = 0; r < kRanks; ++r) {
    Process& rank = *ranks[static_cast<size_t>(r)];
    EXPECT_EQ(end_of(rank), r == 0 ? kRefused : kLost) << rank.err();
    EXPECT_NE(rank.err().find("node1:22"), std::string::npos) << rank.err();
  }
}

TEST_F(RankFaults, ARankThatNeverComesIsNamed) {
  const Args train = run_args("run", 4, {"system.timeout_start=3"});
  const int port = testing_support::free_port();
  Ranks ranks;
  for (int r = 0; r < kRanks - 1; ++r) ranks.push_back(start_rank(r, kRanks, train, port));
  for (auto& rank : ranks) {
    EXPECT_EQ(end_of(*rank), kLost) << rank->err();
    EXPECT_NE(rank->err().find("rank 2"), std::string::npos) << rank->err();
  }
}

}  // namespace
}  // namespace ingot::test
