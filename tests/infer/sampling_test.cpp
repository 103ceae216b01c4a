#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/error/error.h"
#include "core/random/random.h"
#include "infer/sampling.h"

namespace ingot {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

SamplingOptions options(double temperature, int64_t top_k = 0, double top_p = 1.0,
                        uint64_t seed = 1337) {
  return {.temperature = temperature, .top_k = top_k, .top_p = top_p, .seed = seed};
}

int32_t sample_token(const std::vector<float>& logits, const SamplingOptions& how, int64_t draw) {
  check_sampling(how, std::ssize(logits));
  return ingot::sample_token(logits, how, {}, draw);
}

std::vector<float> random_logits(uint64_t seed, size_t V) {
  const RandomStream random(seed, Purpose::Test);
  std::vector<float> logits(V);
  for (size_t i = 0; i < V; ++i) logits[i] = 3 * random.normal(i);
  return logits;
}

// Logits whose softmax at temperature 1 is `probabilities`.
std::vector<float> logits_of(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

// Each id's share of `num_draws` positions.
std::vector<double> shares(const std::vector<float>& logits, const SamplingOptions& how,
                           int64_t num_draws) {
  std::vector<double> share(logits.size());
  for (int64_t position = 0; position < num_draws; ++position) {
    ++share[sample_token(logits, how, position)];
  }
  for (double& count : share) count /= static_cast<double>(num_draws);
  return share;
}

// Five standard deviations of a share; seeds are fixed, so a pass stays a pass.
void expect_shares(const std::vector<double>& share, const std::vector<double>& probabilities,
                   int64_t num_draws) {
  for (size_t i = 0; i < share.size(); ++i) {
    const double p = probabilities[i];
    const double deviation = std::sqrt(p * (1 - p) / static_cast<double>(num_draws));
    EXPECT_NEAR(share[i], p, 5 * deviation) << "id " << i;
  }
}

TEST(Sampling, GreedyTakesTheLowestIdOfEqualMaxima) {
  const std::vector<float> logits{-1, 5, 2, 5, -kInfinity};
  for (int64_t position = 0; position < 50; ++position) {
    EXPECT_EQ(sample_token(logits, options(0), position), 1);
  }
}

TEST(Sampling, TopKOfOneAndATinyTopPAreGreedy) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    auto logits = random_logits(seed, 97);
    if (seed % 2 == 0) logits[90] = logits[3] = 50;  // a tie
    const int32_t greedy = sample_token(logits, options(0), 7);
    EXPECT_EQ(sample_token(logits, options(1.5, 1), 7), greedy);
    EXPECT_EQ(sample_token(logits, options(1.5, 0, 1e-9), 7), greedy);
  }
}

TEST(Sampling, SharesFollowTheProbabilities) {
  const std::vector<double> probabilities{0.5, 0.25, 0.125, 0.1, 0.02, 0.005};
  constexpr int64_t kDraws = 20'000;
  expect_shares(shares(logits_of(probabilities), options(1), kDraws), probabilities, kDraws);
}

TEST(Sampling, TemperatureSharpensAndFlattens) {
  const std::vector<float> logits{0, 1, 2};
  constexpr int64_t kDraws = 20'000;
  for (const double temperature : {0.5, 2.0}) {
    std::vector<double> probabilities;
    double total = 0;
    for (const float logit : logits) total += std::exp(logit / temperature);
    for (const float logit : logits) probabilities.push_back(std::exp(logit / temperature) / total);
    expect_shares(shares(logits, options(temperature), kDraws), probabilities, kDraws);
  }
}

TEST(Sampling, TopKKeepsTheLikeliestAndTheirProportions) {
  const auto logits = logits_of({0.1, 0.4, 0.05, 0.3, 0.15});
  constexpr int64_t kDraws = 20'000;
  expect_shares(shares(logits, options(1, 2), kDraws), {0, 4.0 / 7, 0, 3.0 / 7, 0}, kDraws);
  // Of equals the lower ids stay.
  const auto share = shares({1, 1, 1, 1}, options(1, 2), 1000);
  EXPECT_GT(share[0], 0);
  EXPECT_GT(share[1], 0);
  EXPECT_EQ(share[2] + share[3], 0);
}

TEST(Sampling, FiltersNeverLetALesserIdThroughInALargeVocabulary) {
  const auto logits = random_logits(8, 2000);
  auto sorted = logits;
  std::sort(sorted.rbegin(), sorted.rend());
  for (int64_t position = 0; position < 500; ++position) {
    EXPECT_GE(logits[sample_token(logits, options(5, 40), position)], sorted[39]);
    EXPECT_GE(logits[sample_token(logits, options(5, 40, 0.5), position)], sorted[19]);
  }
}

TEST(Sampling, TopPKeepsTheSmallestSetThatReachesIt) {
  const auto logits = logits_of({0.1, 0.4, 0.05, 0.3, 0.15});
  constexpr int64_t kDraws = 20'000;
  expect_shares(shares(logits, options(1, 0, 0.65), kDraws), {0, 4.0 / 7, 0, 3.0 / 7, 0}, kDraws);
  expect_shares(shares(logits, options(1, 0, 0.75), kDraws),
                {0, 0.4 / 0.85, 0, 0.3 / 0.85, 0.15 / 0.85}, kDraws);
  // After top-k, p is a share of what top-k left: 0.4 of 0.7 is 0.571.
  expect_shares(shares(logits, options(1, 2, 0.55), kDraws), {0, 1, 0, 0, 0}, kDraws);
}

TEST(Sampling, FiltersThatKeepEverythingChangeNothing) {
  const auto logits = random_logits(5, 300);
  for (int64_t position = 0; position < 500; ++position) {
    const int32_t plain = sample_token(logits, options(1), position);
    EXPECT_EQ(sample_token(logits, options(1, 300), position), plain);
    EXPECT_EQ(sample_token(logits, options(1, 0, 1 - 1e-12), position), plain);
  }
}

TEST(Sampling, IsAFunctionOfSeedAndPosition) {
  const std::vector<float> logits(1000, 0.0f);
  std::set<int32_t> over_positions, over_seeds;
  for (int64_t i = 0; i < 50; ++i) {
    const int32_t id = sample_token(logits, options(1), i);
    EXPECT_EQ(sample_token(logits, options(1), i), id);
    over_positions.insert(id);
    over_seeds.insert(sample_token(logits, options(1, 0, 1.0, static_cast<uint64_t>(i)), 3));
  }
  EXPECT_GT(over_positions.size(), 40u);
  EXPECT_GT(over_seeds.size(), 40u);
  // With equal logits the id is the addressed number itself.
  const double u = RandomStream(1337, Purpose::Sampling, 0, 12).uniform(0);
  EXPECT_EQ(sample_token(logits, options(1), 12), static_cast<int32_t>(u * 1000));
}

TEST(Sampling, ExtremeLogitsStayStable) {
  for (const float scale : {1e30f, 1e-30f}) {
    const int32_t id = sample_token(std::vector<float>{-scale, scale, 0}, options(1), 0);
    EXPECT_GE(id, 0);
    EXPECT_LT(id, 3);
  }
  for (int64_t position = 0; position < 200; ++position) {
    EXPECT_EQ(sample_token(std::vector<float>{-kInfinity, 88, -kInfinity}, options(1), position),
              1);
    EXPECT_EQ(sample_token(std::vector<float>{1e30f, 3e38f, -3e38f}, options(1), position), 1);
    EXPECT_EQ(sample_token(std::vector<float>{1, 2, 1}, options(1e-300), position), 1);
  }
}

TEST(Sampling, DamagedLogitsAreANumericError) {
  const std::vector<std::vector<float>> bad{
      {0, kNan, 1}, {0, kInfinity}, {-kInfinity, -kInfinity}, {kNan}};
  for (const auto& logits : bad) {
    for (const double temperature : {0.0, 1.0}) {
      try {
        sample_token(logits, options(temperature), 4);
        FAIL() << "accepted";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::Numeric) << error.what();
      }
    }
  }
}

TEST(Sampling, ImpossibleOptionsAreAUsageError) {
  const std::vector<float> logits{0, 1};
  for (const auto& wrong : {options(-1), options(kNan), options(kInfinity), options(1, -1),
                            options(1, 0, 0), options(1, 0, 1.5), options(1, 0, kNan)}) {
    try {
      sample_token(logits, wrong, 0);
      FAIL() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Usage) << error.what();
    }
  }
}

TEST(Sampling, TheLikeliestIdsAreAllThatTopKNeeds) {
  constexpr int64_t kLikeliest = 20;
  std::vector<float> logits = random_logits(8, 500);
  logits[7] = logits[300] = logits[301] = 2.5f;
  std::vector<IdLogit> likeliest;
  for (const int32_t id : ingot::likeliest(logits, kLikeliest))
    likeliest.insert(likeliest.begin(), {id, logits[static_cast<size_t>(id)]});
  likeliest.push_back({-1, 0.0f});
  for (SamplingOptions how : {options(0), options(0.8, 5), options(1.0, 20), options(2.0, 1),
                              options(1.0, 12, 0.7), options(0, 0)}) {
    how.min_p = how.top_k == 5 ? 0.1 : 0.0;
    ASSERT_TRUE(draws_from_likeliest(how, kLikeliest));
    for (int64_t draw = 0; draw < 200; ++draw)
      ASSERT_EQ(sample_likeliest(likeliest, how, draw), sample_token(logits, how, draw));
  }
  EXPECT_FALSE(draws_from_likeliest(options(1.0), kLikeliest));
  EXPECT_FALSE(draws_from_likeliest(options(1.0, 21), kLikeliest));
  SamplingOptions penalized = options(0);
  penalized.presence_penalty = 1;
  EXPECT_FALSE(draws_from_likeliest(penalized, kLikeliest));
}

}  // namespace
}  // namespace ingot
