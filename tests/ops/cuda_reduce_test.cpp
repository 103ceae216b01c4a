// Sums that a GPU keeps until the host asks, and what it decides by them.
#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "ops/memory.h"
#include "ops/reduce.h"
#include "ops/update/update_scalars.h"
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

// Exact sums, so that the order in which either device adds does not show.
TEST_F(CudaReduce, AnUpdateIsDecidedOnTheDeviceAsOnTheCpu) {
  constexpr int64_t n = 100'003;
  Context host = cpu();
  const auto decided = [&](Context& ctx, float value, const ClipRule& rule) {
    Operands operands(ctx);
    const Tensor x = operands.zeros(DType::F32, {n});
    fill(ctx, value, x);
    const UpdateScalars scalars{operands.zeros(DType::F64, {kNumUpdateValues}),
                                operands.zeros(DType::I64, {1})};
    sum_of_squares(ctx, {&x, 1}, scalars.values.slice(0, kGradSquares, kGradSquares + 1));
    const auto reader = make_update_reader(ctx);
    decide_update(ctx, rule, scalars);
    reader->issue(scalars);
    zero(ctx, scalars.values);  // after what was issued
    int64_t count = -1;
    copy_to_host(ctx, scalars.count, &count);
    return std::pair{reader->read(), count};
  };
  for (const ClipRule& rule : {ClipRule{0.0, 1.0}, ClipRule{0.3, 1.0}, ClipRule{1.7, 4096.0}})
    for (const float value : {0.0f, 3.0f, 0x1p-9f})
      EXPECT_EQ(decided(gpu(), value, rule), decided(host, value, rule)) << value;
  const auto [values, count] = decided(gpu(), std::numeric_limits<float>::infinity(), {1.0, 2.0});
  EXPECT_EQ(values[kSkipped], 1.0);
  EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace ingot::test
