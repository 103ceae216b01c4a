#include "ops/activation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "rig.h"

namespace ingot {
namespace {

using test::view;

TEST(Swiglu, GradientMayReplaceItsInputAndTheOutputItsGradient) {
  test::Rig rig;
  constexpr int64_t N = 3, F = 13;
  std::vector<float> gate_up, dout;
  for (int i = 0; i < N * 2 * F; ++i) gate_up.push_back(2 * std::sin(static_cast<float>(i)));
  for (int i = 0; i < N * F; ++i) dout.push_back(std::cos(static_cast<float>(i)));
  std::vector<float> dgate_up(gate_up.size()), out(dout.size()), again(dout.size());
  swiglu_forward(rig.ctx, view(gate_up, {N, 2 * F}), view(out, {N, F}));
  swiglu_backward(rig.ctx, view(dout, {N, F}), view(gate_up, {N, 2 * F}),
                  view(dgate_up, {N, 2 * F}), view(again, {N, F}));
  EXPECT_EQ(again, out);
  swiglu_backward(rig.ctx, view(dout, {N, F}), view(gate_up, {N, 2 * F}), view(gate_up, {N, 2 * F}),
                  view(dout, {N, F}));
  EXPECT_EQ(gate_up, dgate_up);
  EXPECT_EQ(dout, out);
}

TEST(Swiglu, LargeGatesSaturateWithoutNan) {
  test::Rig rig;
  std::vector<float> gate_up = {1e4f, -1e4f, -90.0f, 2.0f, 2.0f, 2.0f};
  std::vector<float> out(3), dout(3, 1.0f), dgate_up(6);
  swiglu_forward(rig.ctx, view(gate_up, {1, 6}), view(out, {1, 3}));
  EXPECT_EQ(out, (std::vector<float>{2e4f, 0.0f, 0.0f}));
  swiglu_backward(rig.ctx, view(dout, {1, 3}), view(gate_up, {1, 6}), view(dgate_up, {1, 6}),
                  view(out, {1, 3}));
  EXPECT_EQ(dgate_up, (std::vector<float>{2.0f, 0.0f, 0.0f, 1e4f, 0.0f, 0.0f}));
}

TEST(ReluSquared, NanStaysNan) {
  test::Rig rig;
  std::vector<float> x = {std::nanf(""), -1.0f, 3.0f}, out(3);
  relu_squared_forward(rig.ctx, view(x, {1, 3}), view(out, {1, 3}));
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_EQ(out[1], 0.0f);
  EXPECT_EQ(out[2], 9.0f);
}

}  // namespace
}  // namespace ingot
