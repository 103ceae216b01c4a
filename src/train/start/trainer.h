// Training: data, model, optimizer, evaluation, checkpoints and records put together.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "core/storage/storage.h"
#include "feed/token_counts.h"
#include "plan/resolved_run.h"
#include "train/hooks/policy.h"
#include "train/records/record.h"
#include "train/start/prepare.h"
#include "train/step/mfu.h"

namespace ingot {

struct TrainOptions : StartOptions {
  // Set from outside, at any time. `stop`: save after this step and return, leaving a validation
  // unfinished. `save`: save after this step and go on; taken back when that is seen.
  const std::atomic<bool>* stop = nullptr;
  std::atomic<bool>* save = nullptr;
  std::vector<Sink*> sinks;  // besides the ledger, which is always one; of rank 0
  // Of rank 0, if it is known: what all devices together can do. May change from step to step.
  const PeakFlops* peak = nullptr;
  // Policies besides those of every run, made once for each rank; empty: none.
  std::function<std::vector<std::unique_ptr<Policy>>()> policies;
};

struct TrainResult {
  RunState state;
  TokenCounts counts;
  double train_loss = 0.0;
  std::optional<EvalReport> eval;  // the last one
  std::string checkpoint;          // the last one saved
  bool stopped = false;            // before the end
};

// Runs it to its end, on every rank that this process is. The result is rank 0's, or that of the
// one rank that this process is. Rank 0 alone takes the run folder and decides what is gone on
// from; ranks that are processes make sure that they are about to do the same (agreement.h), and an
// error of one of them ends all. Throws ErrorCode::Config when the run folder already holds
// checkpoints and resume was not asked for, or when settings that define the run differ from the
// checkpoint's, or the rates that were planned do and accept_schedule is not set.
TrainResult train(std::shared_ptr<Storage> storage, const ResolvedRun& resolved,
                  const TrainOptions& options);

}  // namespace ingot
