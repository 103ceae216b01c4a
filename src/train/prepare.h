// A run before anything of it is allocated or written: all that can be refused is refused here.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/storage.h"
#include "spec/run_length.h"
#include "train/run_data.h"
#include "train/trainer.h"

namespace ingot {

struct PreparedRun {
  RunConfig config;  // with train.precision decided
  RunData data;
  Horizon horizon;
  int threads_per_rank = 1;
  std::optional<std::string> resume_from;  // a checkpoint
  int64_t first_step = 0;                  // > 0 when resumed
};

// Throws as train() does.
PreparedRun prepare_run(std::shared_ptr<Storage> storage, const RunConfig& config,
                        const TrainOptions& options);

}  // namespace ingot
