#include <gtest/gtest.h>

#include "parallel/tcp_ranks.h"
#include "support/on_gpu.h"

namespace ingot::test {
namespace {

// Tensors of a GPU, which pass through memory of the host on their way.
class CudaTcpRanks : public OnGpu<CommunicatorConformance> {};
TEST_P(CudaTcpRanks, Holds) {
  hold();
}
std::vector<Backend> gpu_ranks() {
  std::vector<Backend> backends;
  for (const int ranks : {2, 3}) backends.push_back(tcp_backend(ranks, Device::cuda(0)));
  return backends;
}
INSTANTIATE_TEST_SUITE_P(Promises, CudaTcpRanks, promises_on(gpu_ranks()), promise_name);

}  // namespace
}  // namespace ingot::test
