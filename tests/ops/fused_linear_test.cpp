#include "ops/fused_linear.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error/error.h"
#include "ops/activation.h"
#include "ops/matmul.h"
#include "rig.h"

namespace ingot {
namespace {

using test::view;

std::vector<float> waves(int64_t count, float step) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(std::sin(step * static_cast<float>(i)));
  return values;
}

TEST(FusedLinear, GradientMayReplaceItsInputWhetherTheOutputIsKeptOrNot) {
  test::Rig rig;
  constexpr int64_t N = 4, C = 6, F = 5;
  std::vector<float> dy = waves(N * C, 0.3f), w = waves(C * F, 0.7f);
  const std::vector<float> values = waves(N * 2 * F, 1.1f);
  std::vector<float> gate_up = values, act(N * F), dact(N * F), wanted(N * 2 * F), again(N * F);
  swiglu_forward(rig.ctx, view(gate_up, {N, 2 * F}), view(act, {N, F}));
  linear_backward_input(rig.ctx, view(dy, {N, C}), view(w, {C, F}), view(dact, {N, F}),
                        Accumulate::No);
  swiglu_backward(rig.ctx, view(dact, {N, F}), view(gate_up, {N, 2 * F}), view(wanted, {N, 2 * F}),
                  view(again, {N, F}));
  for (const bool kept : {false, true}) {
    gate_up = values;
    std::vector<float> out = kept ? act : std::vector<float>(N * F);
    linear_swiglu_backward(rig.ctx, view(dy, {N, C}), view(w, {C, F}), view(gate_up, {N, 2 * F}),
                           view(gate_up, {N, 2 * F}), view(out, {N, F}), kept);
    EXPECT_EQ(gate_up, wanted);
    EXPECT_EQ(out, act);
  }
}

TEST(FusedLinear, RefusesOperandsThatDoNotFit) {
  test::Rig rig;
  std::vector<float> some(64);
  const auto matrix = [&](int64_t rows, int64_t columns) { return view(some, {rows, columns}); };
  const Tensor x = matrix(2, 4), w = matrix(6, 4), gate_up = matrix(2, 6), out = matrix(2, 3);
  EXPECT_THROW(linear_swiglu_forward(rig.ctx, x, matrix(5, 4), gate_up, out), Error);
  EXPECT_THROW(linear_swiglu_forward(rig.ctx, x, w, matrix(2, 5), out), Error);
  EXPECT_THROW(linear_swiglu_forward(rig.ctx, x, w, gate_up, matrix(3, 3)), Error);
  EXPECT_THROW(linear_swiglu_backward(rig.ctx, x, matrix(4, 2), gate_up, gate_up, out), Error);
  EXPECT_THROW(linear_swiglu_backward(rig.ctx, x, matrix(4, 3), gate_up, matrix(2, 5), out), Error);

  const Tensor y = matrix(2, 4);                                  // two tokens, two heads of 2
  const Tensor heads = y.split(1, 2, 2).split(0, 1, 2);           // (1, 2, 2, 2)
  const Tensor table = matrix(2, 1), short_table = matrix(1, 1);  // (context, 1)
  const auto rotate = [&](const Tensor& weight, const Tensor& cos) {
    linear_rope_forward(rig.ctx, x, weight, y, heads, {.cos = cos, .sin = cos});
  };
  EXPECT_NO_THROW(rotate(matrix(4, 4), table));
  EXPECT_THROW(rotate(matrix(4, 3), table), Error);
  EXPECT_THROW(rotate(matrix(4, 4), short_table), Error);
}

}  // namespace
}  // namespace ingot
