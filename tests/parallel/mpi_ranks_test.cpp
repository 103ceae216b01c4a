// Ranks that mpirun started.
#include <gtest/gtest.h>

#include "parallel/comm/mpi/mpi_start.h"
#include "parallel/process_backend.h"

namespace ingot::test {
namespace {

Process own_process() {
  Process process;
  process.rank = process.local_rank = variable("OMPI_COMM_WORLD_RANK", 0);
  process.world = process.local_world = variable("OMPI_COMM_WORLD_SIZE", 1);
  process.rendezvous = "mpi";
  process.host = "localhost";
  return process;
}

Backend mpi_backend() {
  return process_backend(CommBackend::Mpi, own_process(), {}, [] { return "mpi"; });
}

class MpiRanks : public CommunicatorConformance {};
TEST_P(MpiRanks, Holds) {
  hold();
}
INSTANTIATE_TEST_SUITE_P(Promises, MpiRanks, promises_on({mpi_backend()}), promise_name);

TEST(MpiStart, EveryRankGetsTheTextOfRank0) {
  const Process process = own_process();
  const std::string own = "text of rank " + std::to_string(process.rank);
  EXPECT_EQ(mpi_broadcast_text(own, process), "text of rank 0");
  EXPECT_EQ(mpi_broadcast_text(own + own, process), "text of rank 0text of rank 0");
}

TEST(MpiStart, AProcessThatMpiKnowsByAnotherRankIsRefused) {
  Process process = own_process();
  EXPECT_NO_THROW(check_mpi_process(process));
  process.rank = process.world++;
  try {
    check_mpi_process(process);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Config);
  }
}

// Longer than a message of MPI can be taken at once, and than one piece of ours.
TEST(MpiWire, LongTensorsArrive) {
  mpi_backend()([](World& world) {
    CommRank rank(world);
    constexpr int64_t kLength = 3'000'017;
    const Tensor tensor = rank.put(numbers<int32_t>(rank.rank(), kLength));
    rank.comm().broadcast(tensor, rank.size() - 1, rank.ready()).wait();
    EXPECT_TRUE(same_bits(rank.get<int32_t>(tensor), numbers<int32_t>(rank.size() - 1, kLength)));
  });
}

// Rank 0 sends what is too long to go without its receiver, who does not come: the wait ends, and
// the memory may go.
TEST(MpiWire, AMessageThatNobodyTakesEndsWithTheDeadline) {
  Process process = own_process();
  WorldOptions options{.backend = CommBackend::Mpi, .deadlines = short_deadlines()};
  options.deadlines.collective = std::chrono::seconds(2);
  if (process.world == 1) GTEST_SKIP() << "needs two ranks";
  try {
    rank_launcher(process, options)->run([](World& world) {
      if (world.rank() == 0) {
        CommRank rank(world);
        const Tensor tensor = rank.put(std::vector<float>(1'000'000, 1.0f));
        rank.comm().send(tensor, 1, rank.ready()).wait();
      } else {
        CommRank rank(world);
        world.control().barrier("that rank 0 does not come to", std::chrono::seconds(10));
      }
    });
    ADD_FAILURE() << "rank " << process.rank << " went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Comm);
    EXPECT_EQ(error.rank(), 1);
    EXPECT_NE(std::string(error.what()).find("waited 2.0 s for rank 1"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace ingot::test
