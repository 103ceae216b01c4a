// Training as a job of Open MPI, on one machine and over hosts.
#include <gtest/gtest.h>

#include "cli/open_mpi.h"
#include "cli/ranks_fixture.h"

namespace ingot::test {
namespace {

class MpiRuns : public RanksFixture {
 protected:
  void SetUp() override {
    if (!has_mpi()) GTEST_SKIP() << "MPI is not installed";
    RanksFixture::SetUp();
  }
  void TearDown() override {
    if (!root_.empty()) RanksFixture::TearDown();
  }
};

TEST_F(MpiRuns, GiveTheLossesOfThreads) {
  for (const int ranks : {2, 3}) {
    const Losses expected = undisturbed(ranks, 6);
    for (const std::string backend : {"tcp", "mpi"}) {
      const std::string run = backend + std::to_string(ranks);
      Process job(run_args(run, 6, {"system.backend=" + backend}), root_, mpirun(ranks));
      EXPECT_EQ(end_of(job), 0) << job.err();
      EXPECT_EQ(losses(run), expected) << run;
    }
  }
}

// mpirun ends the others as soon as it sees that one is dead; they have written down why by then.
TEST_F(MpiRuns, GoOnAfterARankWasKilled) {
  for (const std::string backend : {"tcp", "mpi"}) {
    const Args sets = {"system.backend=" + backend};
    {
      Process job(run_args(backend, kEndless, sets), root_, mpirun(3));
      ASSERT_TRUE(passes_step(backend, 4)) << job.err();
      send(backend, 1, SIGKILL);
      EXPECT_NE(end_of(job), 0);
      EXPECT_NE(job.err().find("rank 1"), std::string::npos) << job.err();
      const std::map<int, int> lost = recorded_losses(backend);
      EXPECT_FALSE(lost.empty());
      for (const auto& [rank, culprit] : lost) EXPECT_EQ(culprit, 1) << "by rank " << rank;
    }
    const int64_t steps = last_step(backend) + 3;
    Process job(with(run_args(backend, steps, sets), {"--resume"}), root_, mpirun(3));
    EXPECT_EQ(end_of(job), 0) << job.err();
    EXPECT_EQ(losses(backend), undisturbed(3, steps)) << backend;
  }
}

class MpiHostRuns : public MpiRuns {
 protected:
  void SetUp() override {
    MpiRuns::SetUp();
    if (IsSkipped()) return;
    if (!Network::missing().empty()) GTEST_SKIP() << "hosts need " << Network::missing();
    network_ = std::make_unique<Network>(root_ / "network", 3);
  }
  void TearDown() override {
    network_.reset();
    MpiRuns::TearDown();
  }

  Args mpirun_on_hosts() const {
    return with(network_->host(0).launcher(), mpirun({"--host", "node1,node2,node3"}));
  }
};

TEST_F(MpiHostRuns, GiveTheLossesOfThreads) {
  const Losses expected = undisturbed(3, 6);
  for (const std::string backend : {"tcp", "mpi"}) {
    Process job(run_args(backend, 6, {"system.backend=" + backend}), root_, mpirun_on_hosts());
    EXPECT_EQ(end_of(job), 0) << job.err();
    EXPECT_EQ(losses(backend), expected) << backend;
  }
}

}  // namespace
}  // namespace ingot::test
