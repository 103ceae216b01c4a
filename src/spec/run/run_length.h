// The length of a run: its end in steps and in tokens, and the lengths derived from it.
#pragma once

#include <cstdint>

#include "spec/run/run_config.h"

namespace ingot {

struct Progress {
  int64_t step = 0;    // completed steps
  int64_t tokens = 0;  // of those steps, including padding
};

// The end of a run, in both units.
struct Horizon {
  int64_t steps = 0;
  int64_t tokens = 0;
};

// Tokens of a step without a ramp: batch.tokens, or if that is 0 what all ranks take in one
// micro-step.
int64_t full_batch_tokens(const RunConfig& config);

// Unset if neither train.steps nor train.total_tokens is given.
Horizon horizon_of(const RunConfig& config);

// optim.schedule with fractions turned into lengths: of train.total_tokens or train.steps if that
// is the schedule's own unit, else of the horizon.
ScheduleConfig resolved_schedule(const RunConfig& config);

}  // namespace ingot
