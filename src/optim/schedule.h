// Learning rate and batch size as pure functions of progress.
#pragma once

#include <cstdint>

#include "spec/run_config.h"

namespace ingot {

struct Progress {
  int64_t step = 0;    // completed steps
  int64_t tokens = 0;  // trained tokens
};

// The horizon: where the schedule ends, in both units.
struct Horizon {
  int64_t steps = 0;
  int64_t tokens = 0;
};

// Learning rate of the next step. Linear warm-up from lr/warmup, then the shape: cosine and linear
// fall to final_fraction at the horizon, wsd stays flat and falls linearly over the last `decay`.
double learning_rate(const OptimConfig& config, const Progress& progress, const Horizon& horizon);

// Tokens of the next global step, `config.tokens` being decided: grows linearly from
// ramp_start_tokens over ramp_tokens, in whole multiples of ramp_start_tokens, so that it does not
// depend on how many ranks there are.
int64_t batch_tokens(const BatchConfig& config, const Progress& progress);

}  // namespace ingot
