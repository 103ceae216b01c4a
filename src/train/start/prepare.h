// A run before anything of it is allocated or written: all that can be refused is refused here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/storage/storage.h"
#include "spec/resolved_run.h"
#include "train/agreement.h"
#include "train/start/run_data.h"

namespace ingot {

struct PreparedRun {
  ResolvedRun resolved;
  RunData data;
  std::optional<std::string> resume_from;  // a checkpoint
  std::optional<std::string> init_from;    // train.init's, of a run that is not resumed
  int64_t first_step = 0;                  // > 0 when resumed
  bool has_run = false;                    // the folder holds one, perhaps without a checkpoint
  std::vector<RankPlace> places;           // of ranks that are processes
};

// "no run in runs/x, starting at step 0", of a run that was to be resumed; empty where it is.
std::string nothing_to_resume(const PreparedRun& run);

// `resume_from` as find_resume_point() has it. Throws as train() does. Whether data is the same
// under several names, which may read hashes of all documents, one rank finds out for all:
// `compares_content`.
PreparedRun prepare_run(std::shared_ptr<Storage> storage, const ResolvedRun& resolved,
                        std::optional<std::string> resume_from, bool accept_schedule,
                        bool compares_content);

}  // namespace ingot
