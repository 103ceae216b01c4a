#include "ops/reduce.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "core/error/error.h"
#include "ops/memory.h"
#include "rig.h"
#include "support/forced_isa.h"

namespace ingot {
namespace {

using test::view;

double squares_of(Context& ctx, std::span<const Tensor> tensors) {
  double total = 0.0;
  sum_of_squares(ctx, tensors, Tensor::contiguous(&total, DType::F64, {1}));
  return total;
}

TEST(Add, AddsEveryElementAndTakesNothingElse) {
  test::Rig rig;
  constexpr int64_t n = 200'003;  // several tasks, the last one short
  std::vector<float> from(n), to(n);
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<float>(i), to[i] = static_cast<float>(2 * i);
  add(rig.ctx, view(from, {n}), view(to, {n}));
  for (size_t i = 0; i < to.size(); ++i) ASSERT_EQ(to[i], static_cast<float>(3 * i)) << i;
  std::vector<double> wide = {1.0, 2.0}, more = {0.5, 0.25};
  add(rig.ctx, view(more, {2}), view(wide, {2}));
  EXPECT_EQ(wide, (std::vector{1.5, 2.25}));
  EXPECT_THROW(add(rig.ctx, view(more, {2}), view(to, {n})), Error);
}

TEST(Sum, AMillionFloatsLoseNoDigits) {
  test::Rig rig;
  constexpr int64_t n = 1'000'003;
  std::vector<float> x(n, 0.1f);
  const double exact = static_cast<double>(0.1f) * n;
  EXPECT_NEAR(sum(rig.ctx, view(x, {n})), exact, 1e-9 * exact);
  const std::vector<Tensor> twice = {view(x, {n}), view(x, {n})};
  const double squares = 2 * static_cast<double>(0.1f) * static_cast<double>(0.1f) * n;
  EXPECT_NEAR(squares_of(rig.ctx, twice), squares, 1e-9 * squares);
}

TEST(Sum, SquaresOfHugeFloatsDoNotOverflow) {
  test::Rig rig;
  std::vector<float> x = {3e30f, 4e30f};
  const Tensor t = view(x, {2});
  EXPECT_NEAR(std::sqrt(squares_of(rig.ctx, {&t, 1})), 5e30, 1e24);
}

TEST(Sum, ARunningSumIsItsPartsInOrderAndBeginsAnew) {
  test::Rig rig;
  const auto running = make_running_sum(rig.ctx);
  EXPECT_EQ(running->take(), 0.0);
  std::vector<float> x = {0.1f, 0.2f}, y = {1e8f, 3.0f, -1e8f};
  const double want = sum(rig.ctx, view(x, {2})) + sum(rig.ctx, view(y, {3}));
  running->add(view(x, {2}));
  running->add(view(y, {3}));
  EXPECT_EQ(running->take(), want);
  running->add(view(y, {3}));
  running->reset();
  running->add(view(x, {2}));
  EXPECT_EQ(running->take(), sum(rig.ctx, view(x, {2})));

  std::vector<F16> narrow(2);
  EXPECT_THROW(running->add(view(narrow, {2})), Error);
}

TEST(Cast, EveryBf16SurvivesFloatAndBackOnEveryIsa) {
  for (cpu::Isa isa : test::runnable_isas()) {
    const test::ForcedIsa forced(isa);
    test::Rig rig;
    constexpr int64_t n = 65536;
    std::vector<Bf16> x(n), back(n);
    std::vector<float> wide(n);
    for (size_t i = 0; i < x.size(); ++i) x[i].bits = static_cast<uint16_t>(i);
    cast(rig.ctx, view(x, {n}), view(wide, {n}));
    cast(rig.ctx, view(wide, {n}), view(back, {n}));
    for (size_t i = 0; i < x.size(); ++i) {
      const float value = x[i].to_float();
      ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), std::bit_cast<uint32_t>(value));
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(back[i].to_float())) << i;
      } else {
        ASSERT_EQ(back[i].bits, x[i].bits);
      }
    }
  }
}

TEST(Cast, DoublesAreRoundedOnceNotTwice) {
  test::Rig rig;
  // Just above the middle of two bf16: by way of the nearest float it would become the tie, and
  // then the even one below.
  std::vector<double> x = {1.0 + 0x1p-8 + 0x1p-40, -(1.0 + 0x1p-8 + 0x1p-40), 1.0 + 0x1p-8};
  std::vector<Bf16> y(3);
  cast(rig.ctx, view(x, {3}), view(y, {3}));
  EXPECT_EQ(y[0].to_float(), 1.0f + 0x1p-7f);
  EXPECT_EQ(y[1].to_float(), -(1.0f + 0x1p-7f));
  EXPECT_EQ(y[2].to_float(), 1.0f);
  std::vector<double> halves = {1.0 + 0x1p-11 + 0x1p-40};
  std::vector<F16> f16(1);
  cast(rig.ctx, view(halves, {1}), view(f16, {1}));
  EXPECT_EQ(f16[0].to_float(), 1.0f + 0x1p-10f);
}

TEST(Cast, IntegersAndUnequalSizesAreRefused) {
  test::Rig rig;
  std::vector<int32_t> ids(4);
  std::vector<float> x(4), y(5);
  EXPECT_THROW(cast(rig.ctx, view(ids, {4}), view(x, {4})), Error);
  EXPECT_THROW(cast(rig.ctx, view(x, {4}), view(y, {5})), Error);
}

}  // namespace
}  // namespace ingot
