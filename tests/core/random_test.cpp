#include "core/random/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>
#include <vector>

namespace ingot {
namespace {

using Words = std::array<uint32_t, 4>;

TEST(Philox, EqualsTheRandom123KnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, EveryPartOfTheAddressMatters) {
  const std::vector<RandomStream> streams = {
      {1, Purpose::Init, 7, 3},
      {2, Purpose::Init, 7, 3},
      {1ull << 32 | 1, Purpose::Init, 7, 3},
      {1, Purpose::Dropout, 7, 3},
      {1, Purpose::Init, 8, 3},
      {1, Purpose::Init, 7, 4},
      {1, Purpose::Init, 7, 1ull << 32 | 3},
  };
  std::set<uint32_t> seen;
  size_t drawn = 0;
  for (const RandomStream& stream : streams) {
    for (const uint64_t index : {0ull, 1ull, 2ull, 3ull, 4ull, 1ull << 40}) {
      seen.insert(stream.bits(index));
      ++drawn;
    }
  }
  EXPECT_EQ(seen.size(), drawn);
}

TEST(RandomStream, TheSameAddressGivesTheSameValue) {
  const RandomStream a(42, Purpose::Init, tensor_id("embedding.weight"));
  const RandomStream b(42, Purpose::Init, tensor_id("embedding.weight"));
  for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(a.normal(i), b.normal(99 - (99 - i)));
}

TEST(RandomStream, UniformFillsItsRangeEvenly) {
  const RandomStream stream(3, Purpose::Test);
  std::vector<int> bins(16, 0);
  constexpr int kDraws = 160000;
  for (uint64_t i = 0; i < kDraws; ++i) {
    const double u = stream.uniform(i);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++bins[static_cast<size_t>(u * 16)];
  }
  for (const int count : bins) EXPECT_NEAR(count, kDraws / 16, 500);  // 5 standard deviations
}

TEST(RandomStream, NormalHasTheMomentsAndTailsOfANormal) {
  const RandomStream stream(4, Purpose::Test);
  constexpr int kDraws = 200000;
  double sum = 0, square = 0, fourth = 0, neighbours = 0, before = 0;
  int beyond_two = 0;
  for (uint64_t i = 0; i < kDraws; ++i) {
    const double x = stream.normal(i);
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    square += x * x;
    fourth += x * x * x * x;
    neighbours += x * before;
    beyond_two += std::abs(x) > 2.0 ? 1 : 0;
    before = x;
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 0.012);
  EXPECT_NEAR(square / kDraws, 1.0, 0.016);
  EXPECT_NEAR(fourth / kDraws, 3.0, 0.11);
  EXPECT_NEAR(neighbours / kDraws, 0.0, 0.012);
  EXPECT_NEAR(beyond_two / double{kDraws}, 0.0455, 0.0024);
}

TEST(RandomStream, NormalIsBoxMullerOfTheStreamsWords) {
  const RandomStream stream(5, Purpose::Test);
  for (uint64_t i = 0; i < 100000; i += 2) {
    // The words as normal.h rounds them: 23 bits of radius, 24 of angle.
    const double u = (std::floor(stream.bits(i) * 0x1p-9) + 0.5) * 0x1p-23;
    const double angle = std::floor(stream.bits(i + 1) * 0x1p-8) * 0x1p-24 * 2 * std::numbers::pi;
    const double radius = std::sqrt(-2 * std::log(u));
    ASSERT_NEAR(stream.normal(i), radius * std::cos(angle), 2e-6) << i;
    ASSERT_NEAR(stream.normal(i + 1), radius * std::sin(angle), 2e-6) << i;
  }
}

TEST(TensorId, IsFnv1a) {
  EXPECT_EQ(tensor_id(""), 0x811c9dc5u);
  EXPECT_EQ(tensor_id("a"), 0xe40c292cu);
  EXPECT_EQ(tensor_id("foobar"), 0xbf9cf968u);
}

}  // namespace
}  // namespace ingot
