// Timing whole training steps on synthetic tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/comm/rank_launcher.h"
#include "plan/resolved_run.h"

namespace ingot {

struct StepBench {
  struct Memory {
    int64_t peak_bytes = 0;       // allocated
    int64_t predicted_bytes = 0;  // by the tensor table
  };
  double step_seconds = 0.0;        // median, of the slowest rank
  double tokens_per_second = 0.0;   // of all ranks
  double setup_seconds = 0.0;       // building the engine and its weights
  double first_step_seconds = 0.0;  // the first step itself
  double last_loss = 0.0;           // of all ranks' tokens
  std::vector<Memory> memory;       // by rank
};

struct StepBenchOptions {
  int64_t steps = 8;              // timed
  RankLauncher* ranks = nullptr;  // who takes part; null: one rank alone
};

// Runs a first step, a warm-up step and the timed steps, each of one micro-batch a rank, on random
// tokens. Under a document mask documents have random lengths, T/4 on average. Runs on every rank
// that this process hosts. Throws ErrorCode::Memory if the run does not fit.
StepBench bench_train_step(const ResolvedRun& run, const StepBenchOptions& options);

struct CommunicatorBench {
  double plain_seconds = 0.0, through_seconds = 0.0;  // a step, medians
  double cost = 0.0;                                  // median of what pairs of steps differ by
};

// What the communicator costs: times plain steps of one rank, in turn with steps whose blocks are
// sent over a group of one rank. Both runs are in memory at once.
CommunicatorBench bench_communicator(const ResolvedRun& run, int64_t steps);

}  // namespace ingot
