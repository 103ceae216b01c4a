#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "simd_functions.h"
#include "support/forced_isa.h"

namespace ingot {
namespace {

using cpu::Function;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Distance in units of the last place of a float next to the exact value.
double ulps(float got, double exact) {
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) == std::isnan(got) ? 0 : 1e9;
  const auto rounded = static_cast<float>(exact);
  if (std::isinf(rounded) || std::isinf(got)) return rounded == got ? 0 : 1e9;
  int exponent = 0;
  std::frexp(std::max(std::abs(exact), 0x1p-126), &exponent);
  return std::abs(static_cast<double>(got) - exact) / std::ldexp(1.0, exponent - 24);
}

// Floats of every exponent and both signs: each 5,003rd bit pattern.
std::vector<float> floats_of_every_size() {
  std::vector<float> x = {0.0f,     -0.0f,  kInfinity, -kInfinity, kNan,   88.72283f,
                          88.7229f, -87.4f, -103.97f,  -103.98f,   0.625f, 1e-45f};
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 5003)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return x;
}

class Simd : public ::testing::TestWithParam<cpu::Isa> {
 protected:
  double worst_ulps(Function function, double (*exact)(double), const std::vector<float>& x) {
    std::vector<float> y(x.size());
    const auto n = static_cast<int64_t>(x.size());
    INGOT_CPU_DISPATCH(apply, function, x.data(), y.data(), n);
    double worst = 0.0;
    for (size_t i = 0; i < x.size(); ++i) worst = std::max(worst, ulps(y[i], exact(x[i])));
    return worst;
  }

  test::ForcedIsa forced_{GetParam()};
};

TEST_P(Simd, ExpLogAndTanhAreWithinOneAndAHalfUlpOfTheExactValueEverywhere) {
  const std::vector<float> x = floats_of_every_size();
  EXPECT_LE(worst_ulps(Function::Exp, std::exp, x), 1.5);
  EXPECT_LE(worst_ulps(Function::Log, std::log, x), 1.5);
  EXPECT_LE(worst_ulps(Function::Tanh, std::tanh, x), 1.5);
}

TEST_P(Simd, SigmoidIsWithinTwoAndAHalfUlpDownToMinus87AndZeroFromMinus89) {
  std::vector<float> near, far;
  for (float x : floats_of_every_size())
    if (!(x < -87.0f)) near.push_back(x);
  for (float x : floats_of_every_size())
    if (x <= -89.0f) far.push_back(x);
  auto sigmoid = [](double x) { return 1.0 / (1.0 + std::exp(-x)); };
  EXPECT_LE(worst_ulps(Function::Sigmoid, sigmoid, near), 2.5);
  std::vector<float> y(far.size());
  INGOT_CPU_DISPATCH(apply, Function::Sigmoid, far.data(), y.data(),
                     static_cast<int64_t>(far.size()));
  EXPECT_EQ(y, std::vector<float>(far.size(), 0.0f));
}

TEST_P(Simd, ConversionToBf16IsCoresOwn) {
  const std::vector<float> x = floats_of_every_size();
  std::vector<Bf16> y(x.size());
  INGOT_CPU_DISPATCH(to_bf16, x.data(), y.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(y[i].bits, Bf16::from_float(x[i]).bits) << "of " << x[i];
}

TEST_P(Simd, HorizontalFoldsReachEveryLane) {
  const int lanes = INGOT_CPU_DISPATCH(vector_lanes);
  for (int lane = 0; lane < lanes; ++lane) {
    std::vector<float> x(static_cast<size_t>(lanes), 1.0f);
    x[static_cast<size_t>(lane)] = 100.0f;
    EXPECT_EQ(INGOT_CPU_DISPATCH(horizontal_sum_of, x.data()), lanes + 99.0);
    EXPECT_EQ(INGOT_CPU_DISPATCH(horizontal_max_of, x.data()), 100.0);
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, Simd, ::testing::ValuesIn(test::runnable_isas()),
                         [](const auto& test) { return std::string(cpu::name_of(test.param)); });

}  // namespace
}  // namespace ingot
