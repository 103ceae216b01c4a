// Where a rank's micro-batches stand in the stream of samples, step after step.
#pragma once

#include <cstdint>
#include <optional>

#include "spec/run_length.h"

namespace ingot {

// Micro-step m of rank r of R takes the B samples at counter + (m·R + r)·B.
class BatchWalk {
 public:
  // `batch.tokens` decided; begins after `progress` and `samples`, ends at `horizon`.
  BatchWalk(const BatchConfig& batch, Progress progress, int64_t samples, const Horizon& horizon,
            int rank, int num_ranks)
      : batch_(batch),
        progress_(progress),
        samples_(samples),
        horizon_(horizon),
        rank_(rank),
        num_ranks_(num_ranks) {}

  // The next micro-batch's position; nothing once the run is at its end.
  std::optional<int64_t> next();

 private:
  BatchConfig batch_;
  Progress progress_;
  int64_t samples_;
  Horizon horizon_;
  int64_t rank_, num_ranks_;
  int64_t micro_ = 0;
};

}  // namespace ingot
