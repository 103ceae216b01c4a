#include "core/system/timing.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

TEST(Timing, MedianIsTheMiddleAndOfAnEvenNumberTheUpperOfTwo) {
  EXPECT_EQ(median_of({3.0}), 3.0);
  EXPECT_EQ(median_of({9.0, 1.0, 2.0}), 2.0);
  EXPECT_EQ(median_of({4.0, 1.0, 3.0, 2.0}), 3.0);
}

}  // namespace
}  // namespace ingot
