// Timing whole training steps on synthetic tokens.
#pragma once

#include <cstdint>

#include "spec/resolved_run.h"

namespace ingot {

struct StepBench {
  double step_seconds = 0.0;  // median
  double tokens_per_second = 0.0;
  double setup_seconds = 0.0;       // building the engine and its weights
  double first_step_seconds = 0.0;  // the first step itself
  double last_loss = 0.0;
  int64_t peak_bytes = 0;       // allocated by one rank
  int64_t predicted_bytes = 0;  // by the tensor table
};

// One warm-up step after the first, then `steps` timed ones; one micro-batch a step, one rank,
// random tokens; under a document mask, in documents of random lengths, T/4 on average. Throws
// ErrorCode::Memory where the run does not fit.
StepBench bench_train_step(const ResolvedRun& run, int64_t steps);

}  // namespace ingot
