// AdamW's BF16 moments on a GPU: the CPU's bits.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/device/arena.h"
#include "core/random/random.h"
#include "ops/halves.h"
#include "ops/memory.h"
#include "ops/update/adamw.h"
#include "probe/update_rows.h"
#include "support/on_gpu.h"

namespace ingot {
namespace {

class CudaAdamW : public test::OnGpu<::testing::Test> {};

// A parameter's shard in an arena of either device, all of it the same on both.
struct Shard {
  Context& ctx;
  Arena arena;
  AdamWTensors tensors;
  Tensor low;   // (n) U16: for a master in halves
  Tensor rows;  // what the update reads besides

  Shard(Context& context, int64_t n, uint64_t first_index, DType weight, int64_t skip = 0)
      : ctx(context), arena(context.device, 6 * align_up((n + skip) * 4) + kUpdateRowsBytes) {
    int64_t at = 0;
    const auto place = [&](DType dtype) {
      const Tensor tensor = arena.place(at, dtype, {n + skip}).slice(0, skip, n + skip);
      at += align_up((n + skip) * 4);
      return tensor;
    };
    tensors.master = place(DType::F32);
    tensors.grad = place(DType::F32);
    tensors.m = place(DType::BF16);
    tensors.v = place(DType::BF16);
    tensors.weight = place(weight);
    low = place(DType::U16);
    rows = arena.place(at, DType::U8, {kUpdateRowsBytes});
    tensors.weight_decay = 0.1;
    tensors.tensor = tensor_id("layers.3.qkv.weight");
    tensors.first_index = first_index;
    fill(tensors.master, 1);
    zero(ctx, tensors.m);
    zero(ctx, tensors.v);
  }

  void fill(const Tensor& tensor, uint32_t which) {
    std::vector<float> values(static_cast<size_t>(tensor.numel()));
    const RandomStream stream(11, Purpose::Test, which);
    for (size_t i = 0; i < values.size(); ++i) values[i] = 0.02f * stream.normal(i);
    copy_from_host(ctx, values.data(), tensor);
  }

  void update(int64_t step, bool skipped = false) {
    fill(tensors.grad, 100 + static_cast<uint32_t>(step));
    adamw(ctx, adamw_step_at(ctx, rows, {.lr = 1e-3, .seed = 1337}, {step, 0.37, skipped}),
          {&tensors, 1});
  }

  template <class T>
  std::vector<T> values(const Tensor& tensor) const {
    std::vector<T> host(static_cast<size_t>(tensor.numel()));
    copy_to_host(ctx, tensor, host.data());
    return host;
  }
};

std::vector<uint16_t> bits_of(const Shard& shard, const Tensor& tensor) {
  return shard.values<uint16_t>(tensor);
}

void expect_equal(const Shard& gpu, const Shard& cpu) {
  EXPECT_EQ(bits_of(gpu, gpu.tensors.m), bits_of(cpu, cpu.tensors.m));
  EXPECT_EQ(bits_of(gpu, gpu.tensors.v), bits_of(cpu, cpu.tensors.v));
  // The compiler of the CPU's kernel fuses a product and a sum of the master: an ulp a step.
  const auto ours = gpu.values<float>(gpu.tensors.master);
  const auto theirs = cpu.values<float>(cpu.tensors.master);
  for (size_t i = 0; i < ours.size(); ++i) ASSERT_NEAR(ours[i], theirs[i], 4e-8f) << i;
}

TEST_F(CudaAdamW, Bf16MomentsHaveTheCpusBits) {
  Context host = cpu();
  constexpr uint64_t kFar = (uint64_t{5} << 32) + 4;  // the counter's second word
  for (const int64_t n : {1, 7, 37, 4096, 100003})
    for (const uint64_t first : {uint64_t{0}, uint64_t{3}, uint64_t{4096}, kFar}) {
      SCOPED_TRACE(std::to_string(n) + " elements from " + std::to_string(first));
      Shard ours(gpu(), n, first, DType::BF16), theirs(host, n, first, DType::BF16);
      for (int64_t step = 1; step <= 3; ++step) {
        ours.update(step);
        theirs.update(step);
      }
      expect_equal(ours, theirs);
    }
}

TEST_F(CudaAdamW, AMasterInHalvesIsUpdatedAsOneInF32) {
  constexpr int64_t n = 40003;
  for (const int64_t skip : {0, 1}) {  // by vectors, and by single elements
    Shard wide(gpu(), n, 8, DType::BF16, skip), halves(gpu(), n, 8, DType::BF16, skip);
    split_halves(gpu(), halves.tensors.master, halves.tensors.weight, halves.low);
    const Tensor exact = halves.tensors.master;
    halves.tensors.master = halves.low;
    for (int64_t step = 1; step <= 3; ++step) {
      wide.update(step);
      halves.update(step);
    }
    join_halves(gpu(), halves.tensors.weight, halves.low, exact);
    EXPECT_EQ(halves.values<float>(exact), wide.values<float>(wide.tensors.master));
    EXPECT_EQ(bits_of(halves, halves.tensors.m), bits_of(wide, wide.tensors.m));
  }
}

TEST_F(CudaAdamW, ASkippedUpdateChangesNothing) {
  Shard shard(gpu(), 40003, 8, DType::BF16);
  shard.update(1);
  const auto masters = shard.values<float>(shard.tensors.master);
  const auto m = bits_of(shard, shard.tensors.m), v = bits_of(shard, shard.tensors.v);
  shard.update(2, /*skipped=*/true);
  EXPECT_EQ(shard.values<float>(shard.tensors.master), masters);
  EXPECT_EQ(bits_of(shard, shard.tensors.m), m);
  EXPECT_EQ(bits_of(shard, shard.tensors.v), v);
}

TEST_F(CudaAdamW, VectorsAndSingleElementsAgree) {
  // Shifted by an element nothing is aligned to 16 bytes, and every element goes by itself.
  constexpr int64_t n = 40000;
  Shard aligned(gpu(), n, 8, DType::F16), shifted(gpu(), n, 8, DType::F16, 1);
  for (int64_t step = 1; step <= 3; ++step) {
    aligned.update(step);
    shifted.update(step);
  }
  EXPECT_EQ(bits_of(aligned, aligned.tensors.m), bits_of(shifted, shifted.tensors.m));
  EXPECT_EQ(bits_of(aligned, aligned.tensors.v), bits_of(shifted, shifted.tensors.v));
  const auto masters = aligned.values<float>(aligned.tensors.master);
  EXPECT_EQ(masters, shifted.values<float>(shifted.tensors.master));
  const auto weights = bits_of(aligned, aligned.tensors.weight);
  EXPECT_EQ(weights, bits_of(shifted, shifted.tensors.weight));
  for (size_t i = 0; i < masters.size(); ++i)
    ASSERT_EQ(weights[i], F16::from_float(masters[i]).bits) << i;
}

}  // namespace
}  // namespace ingot
