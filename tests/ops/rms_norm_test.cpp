#include "ops/rms_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>

#include "core/error/error.h"
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

// One element type at a time: what the backward pass builds again is what the forward stored.
template <class T>
class RmsNormTypes : public ::testing::Test {};
using Types = ::testing::Types<double, float, Bf16>;
TYPED_TEST_SUITE(RmsNormTypes, Types);

TYPED_TEST(RmsNormTypes, BackwardBuildsTheForwardsOutputAgain) {
  using T = TypeParam;
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
  test::Rig rig;
  // x and y lie in wider rows, as heads; dy and dx are rows of their own.
  constexpr int64_t kRows = 37, kHeads = 3, kWidth = 21, kStride = (kHeads + 1) * kWidth;
  const auto cast_to = [](float value) {
    if constexpr (std::is_same_v<T, Bf16>) {
      return Bf16::from_float(value);
    } else {
      return static_cast<T>(value);
    }
  };
  const auto values = [&](int64_t count, float phase) {
    std::vector<T> result;
    for (int64_t i = 0; i < count; ++i)
      result.push_back(cast_to(2.0f * std::sin(phase * static_cast<float>(i))));
    return result;
  };
  const auto bytes_of = [](const std::vector<T>& elements) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(elements.data());
    return std::vector<unsigned char>(bytes, bytes + elements.size() * sizeof(T));
  };
  const auto heads = [&](std::vector<T>& rows) {
    return view(rows, {kRows, kStride}).slice(1, kWidth, kStride).split(1, kHeads, kWidth);
  };
  std::vector<T> x = values(kRows * kStride, 1.0f), weight = values(kWidth, 0.3f);
  std::vector<T> dy = values(kRows * kHeads * kWidth, 7.0f),
                 old = values(kRows * kHeads * kWidth, 3.0f);
  std::vector<T> y = values(kRows * kStride, 0.1f), rebuilt = y;
  std::vector<Wide> rstd(kRows * kHeads), dweight(kWidth), dweight_beside_y(kWidth);
  rms_norm_forward(rig.ctx, heads(x), view(weight, {kWidth}), kEps, heads(y),
                   view(rstd, {kRows, kHeads}));
  for (bool accumulate : {false, true}) {
    std::vector<T> dx = old, dx_beside_y = old;
    const auto backward = [&](std::vector<T>& out, std::vector<Wide>& sums, const Tensor& to) {
      rms_norm_backward(rig.ctx, view(dy, {kRows, kHeads, kWidth}), heads(x),
                        view(weight, {kWidth}), view(rstd, {kRows, kHeads}),
                        view(out, {kRows, kHeads, kWidth}), accumulate, view(sums, {kWidth}), to);
    };
    backward(dx, dweight, {});
    backward(dx_beside_y, dweight_beside_y, heads(rebuilt));
    EXPECT_EQ(bytes_of(rebuilt), bytes_of(y));  // what lies between the heads too
    EXPECT_EQ(bytes_of(dx_beside_y), bytes_of(dx));
    EXPECT_EQ(dweight_beside_y, dweight);
    rebuilt = values(kRows * kStride, 0.1f);
  }
}

TEST(RmsNorm, OutputBuiltAgainMayNotReplaceAGradient) {
  test::Rig rig;
  Values v;
  std::vector<float> dx(N * C), rstd(N, 1.0f), dweight(C, 0.0f);
  const auto backward = [&](std::vector<float>& y) {
    rms_norm_backward(rig.ctx, view(v.dy, {N, C}), view(v.x, {N, C}), view(v.weight, {C}),
                      view(rstd, {N}), view(dx, {N, C}), false, view(dweight, {C}),
                      view(y, {N, C}));
  };
  EXPECT_THROW(backward(v.dy), Error);
  EXPECT_THROW(backward(dx), Error);
  backward(v.delta);
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
