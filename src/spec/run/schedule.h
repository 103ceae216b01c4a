// The learning rate as a pure function of progress.
#pragma once

#include "spec/run/run_length.h"

namespace ingot {

// Learning rate of the next step, with the schedule's lengths resolved (resolved_schedule()).
// Linear warm-up from lr/warmup, then the shape: cosine and linear fall to final_fraction at the
// horizon; wsd stays flat and falls linearly over the last `decay`.
double learning_rate(const OptimConfig& config, const Progress& progress, const Horizon& horizon);

}  // namespace ingot
