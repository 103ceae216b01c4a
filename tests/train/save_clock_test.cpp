#include "train/hooks/save_clock.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const SaveClock::Time kStart{};

TEST(SaveClock, IsDueSoManyMinutesAfterTheStartAndAfterEachSave) {
  SaveClock clock(10.0, kStart);
  EXPECT_FALSE(clock.is_due(kStart + seconds(599)));
  EXPECT_TRUE(clock.is_due(kStart + seconds(600)));
  clock.saved(kStart + seconds(600), kStart + seconds(602));
  EXPECT_FALSE(clock.is_due(kStart + seconds(1201)));
  EXPECT_TRUE(clock.is_due(kStart + seconds(1202)));
}

TEST(SaveClock, WaitsLongerWhereSavesWouldTakeMoreThanAFiftiethOfTheTime) {
  SaveClock clock(10.0, kStart);
  clock.saved(kStart, kStart + seconds(60));
  EXPECT_FALSE(clock.is_due(kStart + minutes(49)));
  EXPECT_TRUE(clock.is_due(kStart + minutes(50)));
  clock.saved(kStart + minutes(50), kStart + minutes(50) + seconds(1));  // the disk was busy before
  EXPECT_TRUE(clock.is_due(kStart + minutes(61)));
}

TEST(SaveClock, NeverIsDueWithoutMinutes) {
  EXPECT_FALSE(SaveClock(0.0, kStart).is_due(kStart + minutes(100000)));
}

}  // namespace
}  // namespace ingot
