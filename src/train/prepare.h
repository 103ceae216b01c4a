// A run before anything of it is allocated or written: all that can be refused is refused here.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/storage.h"
#include "spec/resolved_run.h"
#include "train/run_data.h"
#include "train/trainer.h"

namespace ingot {

struct PreparedRun {
  ResolvedRun resolved;
  RunData data;
  std::optional<std::string> resume_from;  // a checkpoint
  int64_t first_step = 0;                  // > 0 when resumed
};

// Throws as train() does.
PreparedRun prepare_run(std::shared_ptr<Storage> storage, const ResolvedRun& resolved,
                        const TrainOptions& options);

}  // namespace ingot
