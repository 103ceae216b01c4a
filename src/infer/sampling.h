// Draws the next id of a reply from logits. Filters apply in a fixed order, and each draw is
// addressed by (seed, number of the draw), so that a reply does not depend on what else is
// computed.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ops/top_logits.h"

namespace ingot {

// In the order in which they apply. Ids that a filter drops are never drawn.
struct SamplingOptions {
  // Added to the logits of these ids; -infinity forbids an id.
  std::vector<std::pair<int32_t, float>> logit_bias = {};
  // For ids in prompt or reply: divides positive logits and multiplies negative ones; 1 = off.
  double repetition_penalty = 1.0;
  // For ids in the reply: subtracted once (presence), and once per occurrence (frequency); 0 = off.
  double presence_penalty = 0.0;
  double frequency_penalty = 0.0;
  // Divides the logits; 0 takes the largest one, of equal ones the lowest id.
  double temperature = 1.0;
  // Keeps the k likeliest ids, of equal ones the lower ids; 0 = all.
  int64_t top_k = 0;
  // Of these, keeps the fewest likeliest ids whose probability reaches this share of their total.
  double top_p = 1.0;
  // Of these, keeps ids at least this fraction as likely as the likeliest one; 0 = all.
  double min_p = 0.0;
  uint64_t seed = 1337;
};

// Throws ErrorCode::Usage, naming the option, for a value outside its range or a biased id outside
// [0, vocab).
void check_sampling(const SamplingOptions& options, int64_t vocab);

// The ids that penalties count.
struct TokenHistory {
  std::span<const int32_t> prompt, reply;
};

// The id of draw number `draw` of a reply; a pure function of its arguments. `options` must pass
// check_sampling(). Throws ErrorCode::Numeric if a logit is NaN or the largest is not finite, and
// ErrorCode::Usage if the bias forbids every id.
int32_t sample_token(std::span<const float> logits, const SamplingOptions& options,
                     const TokenHistory& history, int64_t draw);

// Whether a draw needs no more of the logits than the likeliest `count`.
bool draws_from_likeliest(const SamplingOptions& options, int64_t count);
// What sample_token() draws, from the likeliest ids of the same logits, in any order: at least as
// many as draws_from_likeliest() was asked about, or all.
int32_t sample_likeliest(std::span<const IdLogit> likeliest, const SamplingOptions& options,
                         int64_t draw);

// log(Σ exp(logits)), summed in double in the order of ids. An id's log-probability is its logit
// minus this.
double log_sum_exp(std::span<const float> logits);

// The ids of the `count` largest logits, largest first; of equal ones the lower id first.
std::vector<int32_t> likeliest(std::span<const float> logits, int64_t count);

}  // namespace ingot
