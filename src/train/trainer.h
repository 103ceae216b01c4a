// Runs a whole training: data, model, optimizer, validation, checkpoints and records.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "core/storage/storage.h"
#include "plan/resolved_run.h"
#include "train/hooks/policy.h"
#include "train/records/record.h"
#include "train/records/train_result.h"
#include "train/start/prepare.h"
#include "train/step/mfu.h"

namespace ingot {

struct TrainOptions : StartOptions {
  // Requests from outside, at any time. `stop`: save after this step and return; a validation is
  // left unfinished. `save`: save after this step and continue; train() resets it when it sees it.
  const std::atomic<bool>* stop = nullptr;
  std::atomic<bool>* save = nullptr;
  std::vector<Sink*> sinks;  // of rank 0; the ledger is always one more
  // Rank 0's, null if it is not known: what all devices together can do. May change between steps.
  const PeakFlops* peak = nullptr;
  // Makes policies besides those of every run, once for each rank; empty: none.
  std::function<std::vector<std::unique_ptr<Policy>>()> policies;
};

// Runs training to its end on every rank that this process hosts. Returns rank 0's result, or the
// hosted rank's where rank 0 is another process.
//
// Only rank 0 locks the run folder and chooses the checkpoint to resume from. Ranks that are
// processes first compare what they are about to do (start/agreement.h). An error of one rank ends
// all ranks.
//
// Throws ErrorCode::Config when
// - the run folder already holds checkpoints and `resume` is not set;
// - settings that define the run differ from the checkpoint's;
// - the planned learning rates differ from the checkpoint's and accept_schedule is not set.
TrainResult train(std::shared_ptr<Storage> storage, const ResolvedRun& resolved,
                  const TrainOptions& options);

}  // namespace ingot
