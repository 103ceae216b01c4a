// The next id of a reply, drawn from logits: filters in a fixed order, each draw addressed by
// (seed, number of the draw), so that a reply does not depend on what else is computed beside it.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ingot {

// In the order in which they apply. Ids that a filter drops are never drawn.
struct SamplingOptions {
  // Added to the logits of these ids; -infinity forbids an id.
  std::vector<std::pair<int32_t, float>> logit_bias = {};
  // Of every id in prompt and reply: positive logits are divided by it, others multiplied; 1 = off.
  double repetition_penalty = 1.0;
  // Of every id in the reply: subtracted once, and for each time that it is there; 0 = off.
  double presence_penalty = 0.0;
  double frequency_penalty = 0.0;
  // Divides the logits; 0 takes the largest one, the lowest id of equals.
  double temperature = 1.0;
  // Keeps the k likeliest, of equals the lower ids; 0 = all.
  int64_t top_k = 0;
  // Of these, keeps the smallest set of the likeliest that reaches this share of their probability.
  double top_p = 1.0;
  // Of these, keeps those at least this many times as likely as the likeliest; 0 = all.
  double min_p = 0.0;
  uint64_t seed = 1337;
};

// Throws ErrorCode::Usage, naming the option, for a value outside its range or a biased id outside
// [0, vocab).
void check_sampling(const SamplingOptions& options, int64_t vocab);

// What the penalties count.
struct TokenHistory {
  std::span<const int32_t> prompt, reply;
};

// The id of draw number `draw` of a reply: a pure function of its arguments. Throws
// ErrorCode::Numeric if a logit is NaN or the largest is not finite, ErrorCode::Usage if the bias
// forbids every id. `options` as check_sampling() takes them.
int32_t sample_token(std::span<const float> logits, const SamplingOptions& options,
                     const TokenHistory& history, int64_t draw);

// log(Σ exp(logits)), summed in double in the order of ids: the log-probability of an id is its
// logit less this.
double log_sum_exp(std::span<const float> logits);

// The `count` largest logits' ids, largest first; of equals the lower id first.
std::vector<int32_t> likeliest(std::span<const float> logits, int64_t count);

}  // namespace ingot
