// A run before anything of it is allocated or written: all that can be refused is refused here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/choice.h"
#include "core/storage/storage.h"
#include "parallel/comm/rank_launcher.h"
#include "plan/resolved_run.h"
#include "train/agreement.h"
#include "train/start/run_data.h"
#include "train/start/run_folder.h"

namespace ingot {

// What a start has besides the run's settings.
struct StartOptions {
  bool resume = false;  // go on from the newest good checkpoint of the run folder, if there is one
  bool accept_schedule = false;  // also where the learning rates are not those that were planned
  // Of train.init, where settings were taken from it; null: it is not open yet.
  std::shared_ptr<CheckpointChoice> init = nullptr;
  RankLauncher* ranks = nullptr;  // who takes part, as whoever started the program knows
  std::string build = {};         // of the program, which ranks that are processes have alike
  RankPlace place = {};           // of this process, where it is one rank
};

struct PreparedRun {
  ResolvedRun resolved;
  RunData data = {};
  std::optional<CheckpointReader> resume_from = {};
  std::optional<CheckpointReader> init_from = {};  // train.init's, of a run that is not resumed
  AuxiliaryFiles auxiliary_files = {};             // of every checkpoint
  int64_t first_step = 0;                          // > 0 when resumed
  bool has_run = false;                // the folder holds one, perhaps without a checkpoint
  std::vector<RankPlace> places = {};  // of ranks that are processes
};

// "no run in runs/x, starting at step 0", of a run that was to be resumed; empty where it is.
std::string nothing_to_resume(const PreparedRun& run);

// Throws ErrorCode::Config where a length is below a step; of a run that resumes, which was begun
// with it, that is a warning.
void check_lengths(const RunConfig& config, bool resumed = false);

// This rank's part of a preparation, in which all ranks take part: chooses the checkpoint to go on
// from, opens the data, and makes sure that ranks which are processes are about to do the same
// (agreement.h). `prepared` belongs to the process: of ranks that are threads rank 0 makes it.
// `folder`, which rank 0 takes; null: nothing is to be written. Throws as train() does.
void prepare_rank(World& world, const std::shared_ptr<Storage>& storage,
                  const ResolvedRun& resolved, const StartOptions& options, RunFolder* folder,
                  std::optional<PreparedRun>& prepared);

// The same on all ranks, for a run that is not begun. The result is of the process.
PreparedRun prepare(const std::shared_ptr<Storage>& storage, const ResolvedRun& resolved,
                    const StartOptions& options);

}  // namespace ingot
