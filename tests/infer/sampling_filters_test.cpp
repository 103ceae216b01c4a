// A million draws of every filter alone and of every two, against probabilities computed from the
// definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "core/error/error.h"
#include "infer/sampling.h"

namespace ingot {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int64_t kDraws = 1'000'000;

const std::vector<float> kLogits = {1.0f, 0.7f, -0.4f, 2.1f, 0.7f, -1.5f, 1.6f, 0.1f, -0.2f, 1.2f};
const std::vector<int32_t> kPrompt = {3, 5, 3, 0};
const std::vector<int32_t> kReply = {6, 0, 6, 6, 2};

struct Filter {
  std::string name;
  void (*set)(SamplingOptions&);
};

const std::vector<Filter>& filters() {
  static const std::vector<Filter> all = {
      {"bias",
       [](SamplingOptions& o) {
         o.logit_bias = {{1, 1.5f}, {3, -2.0f}, {9, -kInfinity}};
       }},
      {"repetition", [](SamplingOptions& o) { o.repetition_penalty = 1.7; }},
      {"presence", [](SamplingOptions& o) { o.presence_penalty = 0.95; }},
      {"frequency", [](SamplingOptions& o) { o.frequency_penalty = 0.4; }},
      {"temperature", [](SamplingOptions& o) { o.temperature = 0.6; }},
      {"top_k", [](SamplingOptions& o) { o.top_k = 6; }},
      {"top_p", [](SamplingOptions& o) { o.top_p = 0.8; }},
      {"min_p", [](SamplingOptions& o) { o.min_p = 0.2; }},
  };
  return all;
}

// By the definitions, one filter after the other, every id a pair of (probability, id).
std::vector<double> exact(const SamplingOptions& o) {
  std::vector<double> logits(kLogits.begin(), kLogits.end());
  for (const auto& [id, bias] : o.logit_bias) logits[static_cast<size_t>(id)] += double{bias};
  for (size_t id = 0; id < logits.size(); ++id) {
    const auto in_prompt = std::ranges::count(kPrompt, static_cast<int32_t>(id));
    const auto in_reply = std::ranges::count(kReply, static_cast<int32_t>(id));
    if (in_prompt + in_reply > 0)
      logits[id] *= logits[id] < 0 ? o.repetition_penalty : 1 / o.repetition_penalty;
    logits[id] -= (in_reply > 0 ? o.presence_penalty : 0) +
                  static_cast<double>(in_reply) * o.frequency_penalty;
    logits[id] /= o.temperature;
  }
  std::vector<double> p;
  for (const double logit : logits) p.push_back(std::exp(logit));
  const auto normalise = [&] {
    const double total = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& x : p) x /= total;
  };
  normalise();
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return p[a] > p[b]; });
  if (o.top_k > 0)
    for (size_t rank = static_cast<size_t>(o.top_k); rank < order.size(); ++rank)
      p[order[rank]] = 0;
  normalise();
  double before = 0;  // of likelier ids
  for (const size_t id : order) {
    const double own = p[id];
    if (o.top_p < 1 && before >= o.top_p) p[id] = 0;
    before += own;
  }
  const double largest = *std::ranges::max_element(p);
  for (double& x : p)
    if (x < o.min_p * largest) x = 0;
  normalise();
  return p;
}

// Of which chi-square is exceeded once in a million times (Wilson and Hilferty).
double chi_square_limit(int64_t degrees) {
  const double n = static_cast<double>(degrees), z = 4.7534;
  return n * std::pow(1 - 2 / (9 * n) + z * std::sqrt(2 / (9 * n)), 3);
}

class Filters : public ::testing::TestWithParam<std::pair<size_t, size_t>> {
 protected:
  SamplingOptions options() const {
    SamplingOptions o;
    filters()[GetParam().first].set(o);
    filters()[GetParam().second].set(o);
    return o;
  }
};

std::vector<std::pair<size_t, size_t>> alone_and_in_pairs() {
  std::vector<std::pair<size_t, size_t>> all;
  for (size_t a = 0; a < filters().size(); ++a)
    for (size_t b = a; b < filters().size(); ++b) all.emplace_back(a, b);
  return all;
}

std::string name_of_case(const ::testing::TestParamInfo<std::pair<size_t, size_t>>& one) {
  const auto& [a, b] = one.param;
  return filters()[a].name + (a == b ? "" : "_" + filters()[b].name);
}
INSTANTIATE_TEST_SUITE_P(Sampling, Filters, ::testing::ValuesIn(alone_and_in_pairs()),
                         name_of_case);

TEST_P(Filters, AMillionDrawsFollowTheExactProbabilities) {
  const SamplingOptions o = options();
  check_sampling(o, std::ssize(kLogits));
  const std::vector<double> want = exact(o);
  std::vector<double> times(kLogits.size());
  const TokenHistory history{kPrompt, kReply};
  for (int64_t draw = 0; draw < kDraws; ++draw)
    ++times[static_cast<size_t>(sample_token(kLogits, o, history, draw))];
  double chi_square = 0;
  int64_t kept = 0;
  for (size_t id = 0; id < want.size(); ++id) {
    if (want[id] == 0) {
      EXPECT_EQ(times[id], 0) << "id " << id;
      continue;
    }
    const double expected = want[id] * static_cast<double>(kDraws);
    chi_square += (times[id] - expected) * (times[id] - expected) / expected;
    ++kept;
  }
  ASSERT_GT(kept, 1);
  EXPECT_LT(chi_square, chi_square_limit(kept - 1));
}

// The filter does something, so that the test above is not one of the filter's absence.
TEST_P(Filters, EachChangesTheProbabilities) {
  const auto& [a, b] = GetParam();
  const auto of = [](size_t filter) {
    SamplingOptions o;
    filters()[filter].set(o);
    return exact(o);
  };
  EXPECT_NE(of(a), exact({}));
  // Of the likeliest that top-k or top-p keeps, min-p keeps the likeliest: the stricter one
  // decides.
  if (a == b || (a >= 5 && b == 7)) return;
  EXPECT_NE(exact(options()), of(a));
  EXPECT_NE(exact(options()), of(b));
}

TEST(Sampling, GreedyFollowsBiasAndPenalties) {
  SamplingOptions o;
  o.temperature = 0;
  const TokenHistory history{kPrompt, kReply};
  EXPECT_EQ(sample_token(kLogits, o, history, 0), 3);
  o.repetition_penalty = 2;  // 3 is in the prompt, 6 in the reply
  EXPECT_EQ(sample_token(kLogits, o, history, 0), 9);
  o.logit_bias = {{9, -kInfinity}};
  EXPECT_EQ(sample_token(kLogits, o, history, 0), 3);
}

TEST(Sampling, ABiasThatForbidsEveryIdSaysSo) {
  SamplingOptions o;
  o.logit_bias = {{0, -kInfinity}, {1, -kInfinity}};
  try {
    sample_token(std::vector<float>{1, 2}, o, {}, 0);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Usage);
    EXPECT_TRUE(std::string(error.what()).find("logit_bias") != std::string::npos) << error.what();
  }
}

TEST(Sampling, RefusesImpossiblePenaltiesAndBiases) {
  const auto refuses = [](const auto& change) {
    SamplingOptions o;
    change(o);
    EXPECT_THROW(check_sampling(o, 10), Error);
  };
  refuses([](auto& o) { o.repetition_penalty = 0; });
  refuses([](auto& o) { o.presence_penalty = std::nan(""); });
  refuses([](auto& o) { o.frequency_penalty = HUGE_VAL; });
  refuses([](auto& o) { o.min_p = -0.1; });
  refuses([](auto& o) { o.min_p = 1.1; });
  refuses([](auto& o) { o.logit_bias = {{10, 1.0f}}; });
  refuses([](auto& o) { o.logit_bias = {{-1, 1.0f}}; });
  refuses([](auto& o) { o.logit_bias = {{1, kInfinity}}; });
}

TEST(Sampling, LikeliestAreSortedAndOfEqualsTheLowerIdComesFirst) {
  EXPECT_EQ(likeliest(kLogits, 5), (std::vector<int32_t>{3, 6, 9, 0, 1}));
  EXPECT_EQ(likeliest(kLogits, 0), std::vector<int32_t>{});
  EXPECT_EQ(std::ssize(likeliest(kLogits, 100)), std::ssize(kLogits));
}

TEST(Sampling, LogSumExpOfLargeLogitsIsFinite) {
  EXPECT_NEAR(log_sum_exp(std::vector<float>{1000, 1000}), 1000 + std::log(2.0), 1e-9);
  EXPECT_NEAR(
      log_sum_exp(kLogits),
      std::log(std::accumulate(kLogits.begin(), kLogits.end(), 0.0,
                               [](double sum, float x) { return sum + std::exp(double{x}); })),
      1e-12);
}

}  // namespace
}  // namespace ingot
