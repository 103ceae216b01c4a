// Prepares a run before anything is allocated or written, and refuses here what can be refused.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/choice.h"
#include "core/storage/storage.h"
#include "eval/task_list.h"
#include "parallel/comm/rank_launcher.h"
#include "plan/resolved_run.h"
#include "train/start/agreement.h"
#include "train/start/run_data.h"
#include "train/start/run_folder.h"

namespace ingot {

// What a start has besides the run's settings.
struct StartOptions {
  bool resume = false;  // from the newest good checkpoint of the run folder, if there is one
  bool accept_schedule = false;  // resume even if the learning rates are not those once planned
  // The checkpoint of train.init, if settings were taken from it; null: it is not open yet.
  std::shared_ptr<CheckpointChoice> init = nullptr;
  // The checkpoints of the run folder, if settings were taken from one of them; null likewise.
  std::shared_ptr<CheckpointChoice> checkpoints = nullptr;
  RankLauncher* ranks = nullptr;  // starts the ranks
  std::string build = {};         // of the program; must be equal on ranks that are processes
  RankPlace place = {};           // of this process, if it is one rank
};

struct PreparedRun {
  ResolvedRun resolved;
  RunData data = {};
  std::optional<CheckpointReader> resume_from = {};
  std::optional<CheckpointReader> init_from = {};  // train.init's, of a run that is not resumed
  AuxiliaryFiles auxiliary_files = {};             // of every checkpoint
  TaskList tasks = {};                             // train.eval_tasks
  int64_t first_step = 0;                          // > 0 when resumed
  bool has_run = false;                // the folder holds a run, perhaps without a checkpoint
  std::vector<RankPlace> places = {};  // of ranks that are processes
};

// "no run in runs/x, starting at step 0", if there was nothing to resume; otherwise empty.
std::string nothing_to_resume(const PreparedRun& run);

// How texts of task files become ids of this run's model.
HarnessIds task_ids(const PreparedRun& run);

// Throws ErrorCode::Config if a length of the schedule is below one step. `resumed`: only warns, as
// the run was begun with that length.
void check_lengths(const RunConfig& config, bool resumed = false);

// Prepares the run on this rank; all ranks call it. Chooses the checkpoint to resume from, opens
// the data, and checks that ranks which are processes are about to do the same (agreement.h).
// `prepared`: the process's; of ranks that are threads rank 0 fills it. `folder`: rank 0 locks it;
// null: nothing will be written. Throws as train() does.
void prepare_rank(World& world, const std::shared_ptr<Storage>& storage,
                  const ResolvedRun& resolved, const StartOptions& options, RunFolder* folder,
                  std::optional<PreparedRun>& prepared);

// The same on all ranks of a run that will not begin. Returns the preparation of this process.
PreparedRun prepare(const std::shared_ptr<Storage>& storage, const ResolvedRun& resolved,
                    const StartOptions& options);

}  // namespace ingot
