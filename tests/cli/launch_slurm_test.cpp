// Training as a step of Slurm, on three hosts.
#include <gtest/gtest.h>

#include <optional>

#include "cli/open_mpi.h"
#include "cli/ranks_fixture.h"
#include "cli/slurm_cluster.h"

namespace ingot::test {
namespace {

class SlurmRuns : public RanksFixture {
 protected:
  void SetUp() override {
    if (!SlurmCluster::is_installed()) GTEST_SKIP() << "Slurm is not installed";
    if (!Network::missing().empty()) GTEST_SKIP() << "hosts need " << Network::missing();
    RanksFixture::SetUp();
    network_ = std::make_unique<Network>(root_ / "network", 3);
    std::vector<SlurmCluster::Node> nodes;
    for (int i = 0; i < 3; ++i) {
      nodes.push_back({Network::name(i), Network::address(i), network_->host(i).launcher()});
    }
    cluster_.emplace(root_ / "slurm", nodes);
  }
  void TearDown() override {
    if (root_.empty()) return;
    cluster_.reset();
    network_.reset();
    RanksFixture::TearDown();
  }

  Args srun(const Args& more, const Args& behind = {}) const {
    return with(with(network_->host(0).launcher(), behind), with({"srun"}, more));
  }

  std::optional<SlurmCluster> cluster_;
};

TEST_F(SlurmRuns, GiveTheLossesOfThreads) {
  struct Case {
    std::string name;
    int ranks;
    Args srun;
  };
  // Three ranks on two nodes: not as many on each.
  const std::vector<Case> cases = {{"pair", 2, {"-N", "2", "-n", "2"}},
                                   {"hosts", 3, {"-N", "3", "-n", "3"}},
                                   {"uneven", 3, {"-N", "2", "-n", "3"}}};
  for (const Case& one : cases) {
    Process job(run_args(one.name, 6), root_, srun(one.srun));
    EXPECT_EQ(end_of(job), 0) << one.name << ": " << job.err();
    EXPECT_EQ(losses(one.name), undisturbed(one.ranks, 6)) << one.name;
  }
}

class SlurmMpiRuns : public SlurmRuns {
 protected:
  void SetUp() override {
    if (!has_mpi()) GTEST_SKIP() << "MPI is not installed";
    SlurmRuns::SetUp();
  }
};

TEST_F(SlurmMpiRuns, GiveTheLossesOfThreads) {
  Process job(run_args("run", 6, {"system.backend=mpi"}), root_,
              srun({"-N", "3", "-n", "3", "--mpi=pmix"}, without_leak_check()));
  EXPECT_EQ(end_of(job), 0) << job.err();
  EXPECT_EQ(losses("run"), undisturbed(3, 6));
}

// srun leaves the others alone when one is killed; asked to, it ends them first.
TEST_F(SlurmRuns, GoOnAfterARankWasKilled) {
  for (const std::string end_others : {"0", "1"}) {
    const int64_t before = last_step("run");
    Args train = run_args("run", kEndless);
    if (before > 0) train.push_back("--resume");
    Process job(train, root_,
                srun({"-N", "3", "-n", "3", "-l", "--kill-on-bad-exit=" + end_others}));
    ASSERT_TRUE(passes_step("run", before + 4)) << job.err();
    send("run", 2, SIGKILL);
    EXPECT_NE(end_of(job), 0);
    const std::map<int, int> lost = recorded_losses("run");
    EXPECT_FALSE(lost.empty());
    for (const auto& [rank, culprit] : lost) EXPECT_EQ(culprit, 2) << "by rank " << rank;
    fs::remove(path("run/faults.jsonl"));
    if (end_others == "1") continue;
    for (const std::string rank : {"0: ", "1: "}) {
      EXPECT_NE(job.err().find("\n" + rank + "ingot: "), std::string::npos) << job.err();
    }
    EXPECT_NE(job.err().find("rank 2"), std::string::npos) << job.err();
  }
  const int64_t steps = last_step("run") + 3;
  Process job(with(run_args("run", steps), {"--resume"}), root_, srun({"-N", "3", "-n", "3"}));
  EXPECT_EQ(end_of(job), 0) << job.err();
  EXPECT_EQ(losses("run"), undisturbed(3, steps));
}

}  // namespace
}  // namespace ingot::test
