#include <gtest/gtest.h>

#include "core/async/recorded_work.h"
#include "parallel/communicator_conformance.h"
#include "support/on_gpu.h"

namespace ingot::test {
namespace {

class CudaSingleRank : public OnGpu<CommunicatorConformance> {};
TEST_P(CudaSingleRank, Holds) {
  hold();
}
INSTANTIATE_TEST_SUITE_P(Promises, CudaSingleRank, promises_on({single_backend(Device::cuda(0))}),
                         promise_name);

// Ranks that share one GPU.
class CudaLocalRanks : public OnGpu<CommunicatorConformance> {};
TEST_P(CudaLocalRanks, Holds) {
  hold();
}
std::vector<Backend> gpu_ranks() {
  std::vector<Backend> backends;
  for (const int ranks : {1, 2, 3, 4, 8}) backends.push_back(local_backend(ranks, Device::cuda(0)));
  return backends;
}
INSTANTIATE_TEST_SUITE_P(Promises, CudaLocalRanks, promises_on(gpu_ranks()), promise_name);

using CudaCommunicator = OnGpu<::testing::Test>;

TEST_F(CudaCommunicator, AGroupOfOneCanBeRecorded) {
  const auto world = single_world(gpu().device);
  CommRank rank(*world);
  const Tensor part = rank.put(std::vector<float>(5000)),
               whole = rank.put(std::vector<float>(5000));
  const auto work = make_recorded_work(rank.ctx());
  for (int round = 0; round < 4; ++round) {
    const auto values = numbers<float>(round, 5000);
    copy_from_host(rank.ctx(), values.data(), part);
    work->run("gather",
              [&] { rank.lane().after(rank.comm().all_gather(part, whole, rank.ready())); });
    EXPECT_EQ(rank.get<float>(whole), values) << round;
  }
}

}  // namespace
}  // namespace ingot::test
