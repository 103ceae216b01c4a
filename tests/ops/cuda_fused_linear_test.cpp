// Products with SwiGLU inside, on a GPU: which shapes they are for, and the bits of the separate
// op.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/device/cuda_facts.h"
#include "ops/activation.h"
#include "ops/kernels/fused_linear.h"
#include "ops/memory.h"
#include "probe/operands.h"
#include "support/on_gpu.h"

namespace ingot {
namespace {

class CudaFusedLinear : public test::OnGpu<::testing::Test> {
 protected:
  static bool on_hopper() { return cuda_facts()->devices.at(0).major == 9; }
  static std::vector<uint16_t> bits(const Tensor& tensor) {
    std::vector<uint16_t> values(static_cast<size_t>(tensor.numel()));
    copy_to_host(gpu(), tensor, values.data());
    return values;
  }
};

TEST_F(CudaFusedLinear, HopperTakesTrainingShapesAndGivesTheBitsOfSwiglu) {
  constexpr int64_t N = 528, C = 264, F = 1416;  // no multiples of a tile
  Operands operands(gpu());
  const Tensor x = operands.random(DType::BF16, {N, C}),
               w = operands.random(DType::BF16, {2 * F, C});
  const Tensor gate_up = operands.zeros(DType::BF16, {N, 2 * F});
  const Tensor act = operands.zeros(DType::BF16, {N, F}),
               plain = operands.zeros(DType::BF16, {N, F});
  ASSERT_EQ(cuda::linear_swiglu_forward(gpu(), x, w, gate_up, act), on_hopper());
  if (!on_hopper()) return;
  swiglu_forward(gpu(), gate_up, plain);
  EXPECT_EQ(bits(act), bits(plain));

  // The backward pass builds act again, or leaves it alone where it is kept.
  const Tensor w_down = operands.random(DType::BF16, {C, F});
  const Tensor again = operands.zeros(DType::BF16, {N, F}),
               kept = operands.zeros(DType::BF16, {N, F});
  const Tensor d_up = operands.zeros(DType::BF16, {N, 2 * F});
  const Tensor d_up_kept = operands.zeros(DType::BF16, {N, 2 * F});
  ASSERT_TRUE(cuda::linear_swiglu_backward(gpu(), x, w_down, gate_up, d_up, again, false));
  ASSERT_TRUE(cuda::linear_swiglu_backward(gpu(), x, w_down, gate_up, d_up_kept, kept, true));
  EXPECT_EQ(bits(again), bits(plain));
  EXPECT_EQ(bits(kept), std::vector<uint16_t>(static_cast<size_t>(N * F)));
  EXPECT_EQ(bits(d_up_kept), bits(d_up));
}

TEST_F(CudaFusedLinear, WhatDoesNotFitIsLeftToTheSeparateOps) {
  Operands operands(gpu());
  const auto refused = [&](DType dtype, int64_t N, int64_t C, int64_t F) {
    return !cuda::linear_swiglu_forward(
        gpu(), operands.random(dtype, {N, C}), operands.random(dtype, {2 * F, C}),
        operands.zeros(dtype, {N, 2 * F}), operands.zeros(dtype, {N, F}));
  };
  EXPECT_TRUE(refused(DType::F32, 528, 264, 1416));
  EXPECT_TRUE(refused(DType::BF16, 520, 264, 1416));  // rows come by sixteen
  EXPECT_TRUE(refused(DType::BF16, 528, 260, 1416));  // rows of 520 bytes
  EXPECT_TRUE(refused(DType::BF16, 64, 64, 64));      // too little work
}

}  // namespace
}  // namespace ingot
