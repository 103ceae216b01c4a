#include "ops/layer_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error/error.h"
#include "rig.h"

namespace ingot {
namespace {

using test::view;

constexpr int64_t N = 37, C = 21;
constexpr double kEps = 1e-5;

std::vector<float> values(int64_t count, float phase, float offset = 0.0f) {
  std::vector<float> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(offset + std::sin(phase * static_cast<float>(i)));
  return result;
}

class LayerNorm : public ::testing::Test {
 protected:
  void forward(std::vector<float>& in, std::vector<float>& out) {
    layer_norm_forward(rig.ctx, view(in, {N, C}), view(weight, {C}), view(bias, {C}), kEps,
                       view(out, {N, C}), view(rstd, {N}));
  }
  LayerNormBackward backward_into(std::vector<float>& dx, std::vector<float>& gradient) {
    return {.dy = view(gradient, {N, C}),
            .x = view(x, {N, C}),
            .weight = view(weight, {C}),
            .bias = view(bias, {C}),
            .rstd = view(rstd, {N}),
            .dx = view(dx, {N, C}),
            .dweight = view(dweight, {C}),
            .dbias = view(dbias, {C})};
  }

  test::Rig rig;
  // Far from zero: what is left of it when the mean is gone is what counts.
  std::vector<float> x = values(N * C, 1.0f, 3.0f), dy = values(N * C, 7.0f);
  std::vector<float> weight = values(C, 0.3f, 1.0f), bias = values(C, 0.7f);
  std::vector<float> rstd = std::vector<float>(N), dweight = std::vector<float>(C),
                     dbias = std::vector<float>(C);
};

TEST_F(LayerNorm, OutputMayBeTheInput) {
  std::vector<float> y(N * C), in_place = x;
  forward(x, y);
  forward(in_place, in_place);
  EXPECT_EQ(in_place, y);
}

TEST_F(LayerNorm, GradientMayReplaceDyOrAddToWhatIsThere) {
  std::vector<float> y(N * C), dx(N * C);
  forward(x, y);
  layer_norm_backward(rig.ctx, backward_into(dx, dy));
  const std::vector<float> first_dweight = dweight, first_dbias = dbias;

  std::vector<float> added = values(N * C, 3.0f);
  const std::vector<float> before = added;
  LayerNormBackward adding = backward_into(added, dy);
  adding.accumulate_dx = true;
  layer_norm_backward(rig.ctx, adding);
  for (size_t i = 0; i < added.size(); ++i) EXPECT_NEAR(added[i], before[i] + dx[i], 1e-6);
  for (size_t i = 0; i < dweight.size(); ++i) {
    EXPECT_FLOAT_EQ(dweight[i], 2 * first_dweight[i]);
    EXPECT_FLOAT_EQ(dbias[i], 2 * first_dbias[i]);
  }

  std::vector<float> replaced = dy;
  layer_norm_backward(rig.ctx, backward_into(replaced, replaced));
  EXPECT_EQ(replaced, dx);
  LayerNormBackward in_place = backward_into(replaced, replaced);
  in_place.accumulate_dx = true;
  EXPECT_THROW(layer_norm_backward(rig.ctx, in_place), Error);
}

TEST_F(LayerNorm, BackwardBuildsTheForwardsOutputAgain) {
  std::vector<float> y(N * C), again(N * C), dx(N * C);
  forward(x, y);
  LayerNormBackward norm = backward_into(dx, dy);
  norm.y = view(again, {N, C});
  layer_norm_backward(rig.ctx, norm);
  EXPECT_EQ(again, y);
  norm.y = norm.dy;
  EXPECT_THROW(layer_norm_backward(rig.ctx, norm), Error);
}

TEST_F(LayerNorm, RowsMayBeStrided) {
  std::vector<float> y(N * C), wide(N * 2 * C), out(N * 2 * C);
  for (int64_t n = 0; n < N; ++n) std::copy_n(x.begin() + n * C, C, wide.begin() + n * 2 * C + C);
  forward(x, y);
  const std::vector<float> first_rstd = rstd;
  const Tensor part = view(out, {N, 2 * C}).slice(1, 0, C);
  layer_norm_forward(rig.ctx, view(wide, {N, 2 * C}).slice(1, C, 2 * C), view(weight, {C}),
                     view(bias, {C}), kEps, part, view(rstd, {N}));
  EXPECT_EQ(rstd, first_rstd);
  for (int64_t i = 0; i < N * C; ++i)
    EXPECT_EQ(out[static_cast<size_t>(i / C * 2 * C + i % C)], y[static_cast<size_t>(i)]);
}

TEST_F(LayerNorm, ShapesThatDoNotMatchAreRefused) {
  std::vector<float> y(N * C), narrow(C - 1);
  EXPECT_THROW(layer_norm_forward(rig.ctx, view(x, {N, C}), view(narrow, {C - 1}), view(bias, {C}),
                                  kEps, view(y, {N, C}), view(rstd, {N})),
               Error);
  EXPECT_THROW(layer_norm_forward(rig.ctx, view(x, {N, C}), view(weight, {C}),
                                  view(narrow, {C - 1}), kEps, view(y, {N, C}), view(rstd, {N})),
               Error);
}

}  // namespace
}  // namespace ingot
