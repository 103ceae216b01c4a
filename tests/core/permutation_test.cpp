#include "core/random/permutation.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "core/error/error.h"
#include "core/random/random.h"

namespace ingot {
namespace {

std::vector<uint64_t> first_eight(uint64_t n, uint64_t seed, uint64_t epoch) {
  const KeyedPermutation permutation(n, seed, epoch);
  std::vector<uint64_t> values;
  for (uint64_t i = 0; i < 8; ++i) values.push_back(permutation(i));
  return values;
}

// Computed by a separate implementation in Python on the published Philox4x32-10. The order is
// final: a change here would make every recorded run unrepeatable.
TEST(KeyedPermutation, OrderIsTheOnePublished) {
  using Values = std::vector<uint64_t>;
  EXPECT_EQ(first_eight(10, 1337, 0), (Values{9, 1, 7, 2, 4, 5, 0, 3}));
  EXPECT_EQ(first_eight(1000, 1337, 0), (Values{115, 50, 24, 763, 132, 179, 801, 509}));
  EXPECT_EQ(first_eight(1000, 1337, 1), (Values{245, 206, 843, 18, 203, 478, 796, 863}));
  EXPECT_EQ(first_eight(1000, 42, 0), (Values{419, 569, 583, 822, 193, 404, 768, 282}));
  EXPECT_EQ(first_eight(1'000'000'000'000, 1337, 0),
            (Values{198116065661, 318080914907, 147678548094, 837461224939, 81213812237,
                    832731456747, 520432951284, 640095050825}));
  EXPECT_EQ(first_eight(~uint64_t{0}, (uint64_t{1} << 63) + 5, uint64_t{1} << 40),
            (Values{4413302021156802262u, 9839498353897675884u, 8787006721313444712u,
                    9985409098715614696u, 10973141515082778388u, 11585430952849813982u,
                    8448059419474357518u, 17231504901339565966u}));
}

TEST(KeyedPermutation, EveryValueOnceAndTheInverseUndoesIt) {
  std::vector<uint64_t> sizes{1023, 1024, 1025, 4096, 4097, 65'537};
  for (uint64_t n = 1; n <= 300; ++n) sizes.push_back(n);
  for (const uint64_t n : sizes) {
    const KeyedPermutation permutation(n, 7, 3);
    std::vector<bool> seen(n);
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t value = permutation(i);
      ASSERT_LT(value, n);
      ASSERT_FALSE(seen[value]) << "n " << n << ": " << value << " twice";
      seen[value] = true;
      ASSERT_EQ(permutation.inverse(value), i);
    }
  }
}

TEST(KeyedPermutation, LargeDomainsInvertWhereSampled) {
  const RandomStream random(1, Purpose::Test);
  for (const int bits : {31, 32, 33, 40, 63, 64}) {
    const uint64_t n = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 12345;
    const KeyedPermutation permutation(n, 99, 1);
    for (uint64_t i = 0; i < 2000; ++i) {
      const uint64_t position = (uint64_t{random.bits(2 * i)} << 32 | random.bits(2 * i + 1)) % n;
      const uint64_t value = permutation(position);
      ASSERT_LT(value, n);
      ASSERT_EQ(permutation.inverse(value), position);
      ASSERT_EQ(permutation(permutation.inverse(position)), position);
    }
  }
}

// Each of the n² (position, value) cells expects 200 hits over the seeds. The statistic has (n-1)²
// degrees of freedom; its 1 - 1e-6 quantile for 49 is 110. The seeds are fixed, so this cannot
// flicker.
TEST(KeyedPermutation, ValuesAreEvenlySpreadOverSeeds) {
  constexpr uint64_t n = 8;
  constexpr uint64_t kSeeds = 200 * n;
  std::array<std::array<int, n>, n> hits{};
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const KeyedPermutation permutation(n, seed, 0);
    for (uint64_t i = 0; i < n; ++i) ++hits[i][permutation(i)];
  }
  double chi_square = 0;
  for (const auto& row : hits) {
    for (const int count : row) chi_square += (count - 200.0) * (count - 200.0) / 200.0;
  }
  EXPECT_LT(chi_square, 110);
  EXPECT_GT(chi_square, 15);  // too even would be no better
}

// A random permutation has on average one fixed point, one ascending neighbour pair (i, i + 1) and
// no correlation between position and value.
TEST(KeyedPermutation, KeepsNoTraceOfTheFileOrder) {
  constexpr uint64_t n = 10'000;
  const KeyedPermutation permutation(n, 1337, 0);
  int fixed_points = 0, neighbours = 0;
  double covariance = 0;
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t value = permutation(i);
    fixed_points += value == i;
    neighbours += i > 0 && value == permutation(i - 1) + 1;
    covariance += (static_cast<double>(i) / n - 0.5) * (static_cast<double>(value) / n - 0.5);
  }
  EXPECT_LE(fixed_points, 8);
  EXPECT_LE(neighbours, 8);
  EXPECT_LT(std::abs(covariance / n * 12), 0.05);  // correlation; its standard deviation is 0.01
}

TEST(KeyedPermutation, EpochsAndSeedsDiffer) {
  constexpr uint64_t n = 10'000;
  const KeyedPermutation base(n, 1337, 0), next_epoch(n, 1337, 1), next_seed(n, 1338, 0);
  int same_epoch = 0, same_seed = 0;
  for (uint64_t i = 0; i < n; ++i) {
    same_epoch += base(i) == next_epoch(i);
    same_seed += base(i) == next_seed(i);
  }
  EXPECT_LE(same_epoch, 8);  // one is expected by chance
  EXPECT_LE(same_seed, 8);
}

TEST(KeyedPermutation, RefusesWhatIsOutOfRange) {
  EXPECT_THROW(KeyedPermutation(0, 1, 1), Error);
  EXPECT_THROW(KeyedPermutation(5, 1, 1)(5), Error);
  EXPECT_THROW(KeyedPermutation(5, 1, 1).inverse(5), Error);
}

}  // namespace
}  // namespace ingot
