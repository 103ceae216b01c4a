#include "ops/bias.h"

#include <gtest/gtest.h>

#include "core/error/error.h"
#include "ops/axpy.h"
#include "rig.h"

namespace ingot {
namespace {

using test::view;

TEST(Bias, GradientIsAddedToWhatIsThere) {
  test::Rig rig;
  std::vector<float> dy = {1, 2, 3, 4, 5, 6}, dbias = {10, 20};
  bias_gradient(rig.ctx, view(dy, {3, 2}), view(dbias, {2}));
  EXPECT_EQ(dbias, (std::vector<float>{19, 32}));
}

TEST(Bias, SumsOfBf16AreF32) {
  test::Rig rig;
  std::vector<Bf16> dy(1000, Bf16::from_float(1.0f));  // bf16 counts to 256
  std::vector<float> dbias(1);
  bias_gradient(rig.ctx, view(dy, {1000, 1}), view(dbias, {1}));
  EXPECT_EQ(dbias[0], 1000.0f);
}

TEST(Bias, ShapesThatDoNotMatchAreRefused) {
  test::Rig rig;
  std::vector<float> x(6), bias(3);
  EXPECT_THROW(add_bias(rig.ctx, view(x, {3, 2}), view(bias, {3})), Error);
  EXPECT_THROW(bias_gradient(rig.ctx, view(x, {3, 2}), view(bias, {3})), Error);
}

TEST(Axpy, MayReplaceEitherOperand) {
  test::Rig rig;
  std::vector<float> x = {1, 2, 3}, y = {10, 20, 30};
  const std::vector<float> first = x, second = y, want = {12, 24, 36};
  axpy(rig.ctx, 2.0, view(x, {3}), view(y, {3}), view(x, {3}));
  EXPECT_EQ(x, want);
  x = first;
  axpy(rig.ctx, 2.0, view(x, {3}), view(y, {3}), view(y, {3}));
  EXPECT_EQ(y, want);
  axpy(rig.ctx, 2.0, view(x, {3}), {}, view(x, {3}));
  EXPECT_EQ(x, (std::vector<float>{2, 4, 6}));
  std::vector<float> narrow(2);
  EXPECT_THROW(axpy(rig.ctx, 1.0, view(x, {3}), view(narrow, {2}), view(x, {3})), Error);
}

}  // namespace
}  // namespace ingot
