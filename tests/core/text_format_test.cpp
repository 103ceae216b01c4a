#include "core/text/format.h"

#include <gtest/gtest.h>

#include <limits>

namespace ingot {
namespace {

TEST(TextFormat, CountsHaveACommaEveryThreeDigits) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1234567), "1,234,567");
  EXPECT_EQ(format_count(-100), "-100");
  EXPECT_EQ(format_count(-1000), "-1,000");
  EXPECT_EQ(format_count(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(TextFormat, ShortCountsHaveThreeDigits) {
  EXPECT_EQ(format_short_count(0), "0");
  EXPECT_EQ(format_short_count(999), "999");
  EXPECT_EQ(format_short_count(1000), "1.00k");
  EXPECT_EQ(format_short_count(76800), "76.8k");
  EXPECT_EQ(format_short_count(999'499), "999k");
  EXPECT_EQ(format_short_count(999'500), "1.00M");
  EXPECT_EQ(format_short_count(70'553'706'496), "70.6B");
}

TEST(TextFormat, BytesAreInPowersOfTen) {
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(20100000), "20.1 MB");
  EXPECT_EQ(format_bytes(3'500'000'000'000), "3.5 TB");
  EXPECT_EQ(format_byte_rate(40'200'000, 2), "20.1 MB/s");
  EXPECT_EQ(format_byte_rate(0, 0), "0 B/s");
}

TEST(TextFormat, TimesNameTheirTwoLargestUnits) {
  EXPECT_EQ(format_duration(0.0123), "12 ms");
  EXPECT_EQ(format_duration(12.34), "12.3 s");
  EXPECT_EQ(format_duration(245), "4 min 05 s");
  EXPECT_EQ(format_duration(3 * 3600 + 12 * 60), "3 h 12 min");
}

TEST(TextFormat, SharesArePercentAndNothingOfNothingIsZero) {
  EXPECT_EQ(format_percent(0.6132), "61.3 %");
  EXPECT_EQ(format_percent(int64_t{1}, int64_t{8}, 2), "12.50 %");
  EXPECT_EQ(format_percent(int64_t{0}, int64_t{0}), "0.0 %");
}

}  // namespace
}  // namespace ingot
