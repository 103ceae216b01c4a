#include "train/step/loss_scale.h"

#include <gtest/gtest.h>

#include "core/error/error.h"

namespace ingot {
namespace {

TEST(LossScale, StartsLargeAndHalvesAtEachOverflow) {
  LossScale scale;
  EXPECT_EQ(scale.value(), 65536);
  scale.after_step(true);
  EXPECT_EQ(scale.value(), 32768);
  scale.after_step(false);
  scale.after_step(true);
  EXPECT_EQ(scale.value(), 16384);
  EXPECT_EQ(scale.state(), (LossScaleState{16384, 0, 2}));
}

TEST(LossScale, DoublesAfterTwoThousandGoodStepsInARow) {
  LossScale scale;
  for (int step = 0; step < 1999; ++step) scale.after_step(false);
  EXPECT_EQ(scale.value(), 65536);
  scale.after_step(true);  // the count begins again
  for (int step = 0; step < 1999; ++step) scale.after_step(false);
  EXPECT_EQ(scale.value(), 32768);
  scale.after_step(false);
  EXPECT_EQ(scale.value(), 65536);
  for (int step = 0; step < 2000; ++step) scale.after_step(false);
  EXPECT_EQ(scale.value(), 131072);
}

TEST(LossScale, GoesOnFromASavedState) {
  LossScale whole, first;
  const auto overflows = [](int step) { return step % 977 == 5; };
  for (int step = 0; step < 6000; ++step) whole.after_step(overflows(step));
  for (int step = 0; step < 2500; ++step) first.after_step(overflows(step));
  LossScale second(first.state());
  for (int step = 2500; step < 6000; ++step) second.after_step(overflows(step));
  EXPECT_EQ(second.state(), whole.state());
}

TEST(LossScale, GivesUpBelowOne) {
  LossScale scale({2, 0, 40});
  scale.after_step(true);
  EXPECT_EQ(scale.value(), 1);
  try {
    scale.after_step(true);
    FAIL() << "went on at " << scale.value();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Numeric);
    EXPECT_NE(std::string(error.what()).find("bf16"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace ingot
