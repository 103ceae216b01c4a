#include "ops/rms_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "rig.h"

namespace ingot {
namespace {

using test::view;

constexpr int64_t N = 5, C = 11;
constexpr double kEps = 1e-5;

struct Values {
  std::vector<float> x, delta, dy, weight;
  Values() {
    for (int i = 0; i < N * C; ++i) {
      x.push_back(std::sin(static_cast<float>(i)));
      delta.push_back(std::cos(static_cast<float>(3 * i)));
      dy.push_back(std::sin(static_cast<float>(7 * i)));
    }
    for (int i = 0; i < C; ++i) weight.push_back(1.0f + 0.1f * static_cast<float>(i));
  }
};

TEST(RmsNorm, OutputMayBeTheInput) {
  test::Rig rig;
  Values v;
  std::vector<float> y(N * C), rstd(N);
  rms_norm_forward(rig.ctx, view(v.x, {N, C}), view(v.weight, {C}), kEps, view(y, {N, C}),
                   view(rstd, {N}));
  std::vector<float> in_place = v.x;
  rms_norm_forward(rig.ctx, view(in_place, {N, C}), view(v.weight, {C}), kEps,
                   view(in_place, {N, C}), view(rstd, {N}));
  EXPECT_EQ(in_place, y);
}

TEST(RmsNorm, ResidualSumMayReplaceTheResidual) {
  test::Rig rig;
  Values v;
  std::vector<float> sum(N * C), y(N * C), in_place_y(N * C), rstd(N);
  add_rms_norm_forward(rig.ctx, view(v.x, {N, C}), view(v.delta, {N, C}), view(v.weight, {C}), kEps,
                       view(sum, {N, C}), view(y, {N, C}), view(rstd, {N}));
  std::vector<float> residual = v.x;
  add_rms_norm_forward(rig.ctx, view(residual, {N, C}), view(v.delta, {N, C}), view(v.weight, {C}),
                       kEps, view(residual, {N, C}), view(in_place_y, {N, C}), view(rstd, {N}));
  EXPECT_EQ(residual, sum);
  EXPECT_EQ(in_place_y, y);
}

TEST(RmsNorm, GradientMayReplaceDyOrAddToWhatIsThere) {
  test::Rig rig;
  Values v;
  std::vector<float> y(N * C), rstd(N), dx(N * C), dweight(C, 0.0f);
  rms_norm_forward(rig.ctx, view(v.x, {N, C}), view(v.weight, {C}), kEps, view(y, {N, C}),
                   view(rstd, {N}));
  auto backward = [&](std::vector<float>& dy, std::vector<float>& out, bool accumulate) {
    rms_norm_backward(rig.ctx, view(dy, {N, C}), view(v.x, {N, C}), view(v.weight, {C}),
                      view(rstd, {N}), view(out, {N, C}), accumulate, view(dweight, {C}));
  };
  backward(v.dy, dx, false);
  const std::vector<float> first_dweight = dweight;

  std::vector<float> added = v.delta;
  backward(v.dy, added, true);
  for (size_t i = 0; i < added.size(); ++i) EXPECT_FLOAT_EQ(added[i], v.delta[i] + dx[i]);
  for (size_t i = 0; i < dweight.size(); ++i) EXPECT_FLOAT_EQ(dweight[i], 2 * first_dweight[i]);

  EXPECT_THROW(backward(v.dy, v.dy, true), Error);
  backward(v.dy, v.dy, false);
  EXPECT_EQ(v.dy, dx);
}

TEST(RmsNorm, ZeroRowsGiveZerosAndFiniteGradients) {
  test::Rig rig;
  Values v;
  std::vector<float> zeros(N * C, 0.0f), y(N * C), rstd(N), dx(N * C), dweight(C, 0.0f);
  rms_norm_forward(rig.ctx, view(zeros, {N, C}), view(v.weight, {C}), kEps, view(y, {N, C}),
                   view(rstd, {N}));
  EXPECT_EQ(y, zeros);
  rms_norm_backward(rig.ctx, view(v.dy, {N, C}), view(zeros, {N, C}), view(v.weight, {C}),
                    view(rstd, {N}), view(dx, {N, C}), false, view(dweight, {C}));
  for (float d : dx) EXPECT_TRUE(std::isfinite(d));
}

TEST(RmsNorm, WrongShapesAndTypesAreRefusedByName) {
  test::Rig rig;
  Values v;
  std::vector<float> y(N * C), rstd(N);
  auto message = [&](auto&& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(message([&] {
              rms_norm_forward(rig.ctx, view(v.x, {N, C}), view(v.weight, {C - 1}), kEps,
                               view(y, {N, C}), view(rstd, {N}));
            }).find("weight must be (11)"),
            std::string::npos);
  std::vector<Bf16> half(N * C);
  EXPECT_NE(message([&] {
              rms_norm_forward(rig.ctx, view(v.x, {N, C}), view(v.weight, {C}), kEps,
                               view(half, {N, C}), view(rstd, {N}));
            }).find("y must be f32"),
            std::string::npos);
}

}  // namespace
}  // namespace ingot
