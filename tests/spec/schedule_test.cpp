#include "spec/run/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/error/error.h"

namespace ingot {
namespace {

OptimConfig config_of(ScheduleKind kind, int64_t warmup, int64_t decay = 0) {
  OptimConfig config;
  config.lr = 2.0;
  config.schedule = {kind, ScheduleUnit::Steps, warmup, decay, 0.1};
  return config;
}

double at_step(const OptimConfig& config, int64_t step, int64_t horizon) {
  return learning_rate(config, {step, 0}, {horizon, 0});
}

class EveryKind : public ::testing::TestWithParam<ScheduleKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind,
                         ::testing::Values(ScheduleKind::Cosine, ScheduleKind::Wsd,
                                           ScheduleKind::Linear, ScheduleKind::Constant));

TEST_P(EveryKind, WarmsUpLinearlyFromOneOverWarmupToThePeak) {
  const OptimConfig config = config_of(GetParam(), 10, 20);
  for (int64_t step = 0; step < 10; ++step)
    EXPECT_DOUBLE_EQ(at_step(config, step, 100), 2.0 * static_cast<double>(step + 1) / 10.0);
  EXPECT_DOUBLE_EQ(at_step(config, 10, 100), 2.0);
}

TEST_P(EveryKind, StartsAtThePeakWithoutWarmup) {
  EXPECT_DOUBLE_EQ(at_step(config_of(GetParam(), 0, 20), 0, 100), 2.0);
}

TEST_P(EveryKind, NeverRisesAfterWarmupAndStaysPutBeyondTheHorizon) {
  const OptimConfig config = config_of(GetParam(), 10, 20);
  for (int64_t step = 10; step < 120; ++step)
    EXPECT_LE(at_step(config, step + 1, 100), at_step(config, step, 100)) << step;
  const double last = GetParam() == ScheduleKind::Constant ? 2.0 : 0.2;
  for (const int64_t step : {100, 101, 1000})
    EXPECT_DOUBLE_EQ(at_step(config, step, 100), last) << step;
}

TEST_P(EveryKind, CountsTokensWhenTheUnitIsTokens) {
  OptimConfig steps = config_of(GetParam(), 10, 20);
  OptimConfig tokens = steps;
  tokens.schedule.unit = ScheduleUnit::Tokens;
  for (int64_t at = 0; at <= 100; at += 7)
    EXPECT_EQ(learning_rate(tokens, {3, at}, {5, 100}), learning_rate(steps, {at, 3}, {100, 5}));
}

TEST_P(EveryKind, AWarmupLongerThanTheRunOnlyWarmsUp) {
  const OptimConfig config = config_of(GetParam(), 50);
  for (int64_t step = 0; step < 20; ++step)
    EXPECT_DOUBLE_EQ(at_step(config, step, 20), 2.0 * static_cast<double>(step + 1) / 50.0);
}

TEST(LearningRate, CosineFollowsItsClosedForm) {
  const OptimConfig config = config_of(ScheduleKind::Cosine, 10);
  for (int64_t step = 10; step <= 110; ++step) {
    const double share = static_cast<double>(step - 10) / 100.0;
    EXPECT_NEAR(at_step(config, step, 110),
                0.2 + 1.8 * 0.5 * (1.0 + std::cos(std::numbers::pi * share)), 1e-14);
  }
  EXPECT_NEAR(at_step(config, 60, 110), 1.1, 1e-14);
}

TEST(LearningRate, LinearFallsInAStraightLine) {
  const OptimConfig config = config_of(ScheduleKind::Linear, 10);
  EXPECT_NEAR(at_step(config, 35, 110), 2.0 - 1.8 * 0.25, 1e-14);
  EXPECT_NEAR(at_step(config, 60, 110), 2.0 - 1.8 * 0.5, 1e-14);
}

TEST(LearningRate, WsdIsFlatAndFallsOverTheLastDecay) {
  const OptimConfig config = config_of(ScheduleKind::Wsd, 10, 20);
  EXPECT_DOUBLE_EQ(at_step(config, 80, 100), 2.0);
  EXPECT_NEAR(at_step(config, 85, 100), 2.0 - 1.8 * 0.25, 1e-14);
  EXPECT_DOUBLE_EQ(at_step(config_of(ScheduleKind::Wsd, 10, 0), 99, 100), 2.0);
}

TEST(LearningRate, AWarmupInsideWsdsDecayCannotRaiseIt) {
  const OptimConfig config = config_of(ScheduleKind::Wsd, 90, 100);
  EXPECT_NEAR(at_step(config, 79, 100), 2.0 * std::min(80.0 / 90.0, 1.0 - 0.9 * 0.79), 1e-14);
}

TEST(LearningRate, AFallingScheduleNeedsAHorizon) {
  EXPECT_THROW(at_step(config_of(ScheduleKind::Cosine, 0), 0, 0), Error);
  EXPECT_DOUBLE_EQ(at_step(config_of(ScheduleKind::Constant, 0), 0, 0), 2.0);
}

}  // namespace
}  // namespace ingot
