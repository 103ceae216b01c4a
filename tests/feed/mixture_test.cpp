#include "feed/mixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "support/files.h"

namespace ingot {
namespace {

using testing_support::error_of;

TEST(Mixture, SharesAreExactAtAnyPointOfTheRun) {
  for (const std::vector<double>& weights :
       {std::vector<double>{0.7, 0.3}, {1}, {1, 1, 1}, {0.5, 0.25, 0.125, 0.1, 0.025}, {1e-6, 1}}) {
    const Mixture mixture(weights);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    const double bound = std::ceil(std::log2(static_cast<double>(weights.size()))) / 2 + 1e-6;
    std::vector<int64_t> drawn(weights.size());
    for (int64_t i = 0; i < 20'000; ++i) {
      const Mixture::Draw draw = mixture.at(i);
      ASSERT_EQ(draw.index, drawn[draw.source]++) << i;  // each source's samples come in order
      for (size_t k = 0; k < weights.size(); ++k) {
        ASSERT_EQ(mixture.drawn(static_cast<int64_t>(k), i + 1), drawn[k]);
        ASSERT_LE(std::abs(static_cast<double>(drawn[k]) -
                           weights[k] / total * static_cast<double>(i + 1)),
                  bound)
            << "source " << k << " after " << i + 1;
      }
    }
  }
}

TEST(Mixture, PositionIsTheInverse) {
  const Mixture mixture(std::vector<double>{0.6, 0.3, 0.1});
  for (int64_t i = 0; i < 5'000; ++i) {
    const Mixture::Draw draw = mixture.at(i);
    ASSERT_EQ(mixture.position(draw.source, draw.index), i);
  }
  const int64_t far = int64_t{1} << 50;  // a run of 10^15 samples
  for (int64_t i = far; i < far + 100; ++i) {
    const Mixture::Draw draw = mixture.at(i);
    ASSERT_EQ(mixture.position(draw.source, draw.index), i);
  }
}

// What recorded runs are repeated by: of 7 : 2 : 1, from a separate implementation of the rule.
TEST(Mixture, RuleIsTheOnePublished) {
  const Mixture mixture(std::vector<double>{0.7, 0.2, 0.1});
  std::vector<int64_t> sources;
  for (int64_t i = 0; i < 20; ++i) sources.push_back(mixture.at(i).source);
  EXPECT_EQ(sources,
            (std::vector<int64_t>{0, 1, 0, 0, 0, 2, 0, 0, 1, 0, 0, 1, 0, 0, 0, 2, 0, 0, 1, 0}));
}

TEST(Mixture, WeightsOutOfRangeAreRefused) {
  for (const double weight : {0.0, -1.0, 1e-7, 2e6, std::nan("")})
    error_of(ErrorCode::Config, [&] { Mixture(std::vector<double>{1, weight}); });
  error_of(ErrorCode::Config, [] { Mixture(std::vector<double>{}); });
}

}  // namespace
}  // namespace ingot
