// How long a run is: where it ends in steps and in tokens, and the lengths that follow from that.
#pragma once

#include <cstdint>

#include "spec/run/run_config.h"

namespace ingot {

struct Progress {
  int64_t step = 0;    // completed steps
  int64_t tokens = 0;  // of those steps, padding among them
};

// Where a run ends, in both units.
struct Horizon {
  int64_t steps = 0;
  int64_t tokens = 0;
};

// Tokens of a step, a ramp aside: batch.tokens, or where that is 0 what all ranks take at once.
int64_t full_batch_tokens(const RunConfig& config);

// Nothing where neither train.steps nor train.total_tokens says.
Horizon horizon_of(const RunConfig& config);

// optim.schedule with fractions turned into lengths, of what train.total_tokens or train.steps says
// where that is the schedule's own unit, else of the horizon.
ScheduleConfig resolved_schedule(const RunConfig& config);

}  // namespace ingot
