#include "parallel/comm/communicator.h"

#include <gtest/gtest.h>

#include "parallel/communicator_conformance.h"

namespace ingot::test {
namespace {

class SingleRank : public CommunicatorConformance {};
TEST_P(SingleRank, Holds) {
  hold();
}
INSTANTIATE_TEST_SUITE_P(Promises, SingleRank, promises_on({single_backend(Device::cpu())}),
                         promise_name);

class LocalCpuRanks : public CommunicatorConformance {};
TEST_P(LocalCpuRanks, Holds) {
  hold();
}
std::vector<Backend> cpu_ranks() {
  std::vector<Backend> backends;
  for (const int ranks : {1, 2, 3, 4, 5, 8})
    backends.push_back(local_backend(ranks, Device::cpu()));
  return backends;
}
INSTANTIATE_TEST_SUITE_P(Promises, LocalCpuRanks, promises_on(cpu_ranks()), promise_name);

TEST(Communicator, OnlyAGroupOfOneCanBeCaptured) {
  run_local_ranks(2, Device::cpu(), [](World& world) {
    CommRank rank(world);
    const std::vector<int> alone = {world.rank()};
    EXPECT_FALSE(rank.comm().capturable());
    EXPECT_TRUE(world.communicator(alone, rank.ctx())->capturable());
  });
}

TEST(Communicator, ATicketThatFailedFailsTheCallBehindIt) {
  single_backend(Device::cpu())([](World& world) {
    CommRank rank(world);
    const auto side = side_lane(rank.ctx());
    side->issue([](Context&) { throw Error(ErrorCode::Numeric, "not finite"); });
    const Tensor tensor = rank.put(std::vector<float>(3));
    EXPECT_THROW(rank.comm().all_reduce(tensor, Reduce::Sum, side->mark("backward")), Error);
  });
  const Error error = error_of(local_backend(2, Device::cpu()), [](World& world) {
    CommRank rank(world);
    const auto side = side_lane(rank.ctx());
    if (rank.rank() == 1)
      side->issue([](Context&) { throw Error(ErrorCode::Numeric, "not finite"); });
    const Tensor tensor = rank.put(std::vector<float>(3));
    rank.comm().all_reduce(tensor, Reduce::Sum, side->mark("backward")).wait();
  });
  EXPECT_EQ(error.code(), ErrorCode::Numeric);
  EXPECT_EQ(error.rank(), 1);
  EXPECT_EQ(std::string(error.what()),
            "all_reduce #1 (sum) of f32 (3) on cpu among 0,1 at step 0: backward: not finite");
}

}  // namespace
}  // namespace ingot::test
