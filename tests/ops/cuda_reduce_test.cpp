// Sums that a GPU keeps until the host asks.
#include <gtest/gtest.h>

#include <vector>

#include "ops/memory.h"
#include "ops/reduce.h"
#include "probe/operands.h"
#include "support/on_gpu.h"

namespace ingot::test {
namespace {

class CudaReduce : public OnGpu<::testing::Test> {};

TEST_F(CudaReduce, ARunningSumIsItsPartsInOrderAndBeginsAnew) {
  constexpr int64_t kParts = 20;
  Operands operands(gpu());
  const Tensor x = operands.random(DType::F32, {kParts, 1000});
  const auto running = make_running_sum(gpu());
  EXPECT_EQ(running->take(), 0.0);
  double want = 0.0;
  for (int64_t i = 0; i < kParts; ++i) {
    running->add(x.slice(0, i, i + 1));
    want += sum(gpu(), x.slice(0, i, i + 1));  // into other memory of the host
  }
  EXPECT_EQ(running->take(), want);
  EXPECT_EQ(running->take(), 0.0);
}

TEST_F(CudaReduce, AddIsTheCpusBitForBit) {
  constexpr int64_t n = 1'000'003;
  Operands operands(gpu());
  const Tensor from = operands.random(DType::F32, {n}), to = operands.random(DType::F32, {n});
  const auto values = [&](const Tensor& tensor) {
    std::vector<float> host(n);
    copy_to_host(gpu(), tensor, host.data());
    return host;
  };
  const std::vector<float> a = values(from), b = values(to);
  add(gpu(), from, to);
  const std::vector<float> sums = values(to);
  for (size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], a[i] + b[i]) << i;
}

// More parts than it has places for; nothing waits in between, and memory that is written again was
// read before.
TEST_F(CudaReduce, PartsAreAddedAsTheyWereWhenTheyWereAdded) {
  constexpr int64_t kParts = 1200, n = 1 << 18;
  Operands operands(gpu());
  const Tensor x = operands.zeros(DType::F32, {n});
  const auto running = make_running_sum(gpu());
  for (int64_t i = 1; i <= kParts; ++i) {
    fill(gpu(), static_cast<float>(i), x);
    running->add(x);
  }
  EXPECT_EQ(running->take(), 0.5 * kParts * (kParts + 1) * n);
}

}  // namespace
}  // namespace ingot::test
