// The training loop: data, model, optimizer, evaluation, checkpoints and records put together.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "core/storage.h"
#include "feed/token_counts.h"
#include "spec/resolved_run.h"
#include "train/run_data.h"

namespace ingot {

struct RunFacts {
  std::string run_dir;
  std::string train_data, valid_data;  // one line each
  int64_t parameters = 0;
  int64_t total_steps = 0;
  int64_t total_tokens = 0;
  std::vector<SourceEpochs> epochs;  // of the whole run
  int64_t predicted_bytes = 0;       // of one rank, from the tensor table
  int64_t allocated_bytes = 0;       // of one rank
  int64_t first_step = 0;            // > 0 when resumed
  std::string device;                // with the GPU's name
  std::string precision;             // never auto
  int ranks = 1;
  int threads = 1;
};

struct StepReport {
  int64_t step = 0;  // completed steps, this one included
  int64_t total_steps = 0;
  int64_t tokens = 0;  // so far, padding among them
  int64_t total_tokens = 0;
  TokenCounts counts;  // so far
  double loss = 0.0;   // mean over the step's tokens, nats
  double lr = 0.0;
  double grad_norm = 0.0;
  std::optional<double> loss_scale;  // in fp16: what this step's gradients were computed with
  bool skipped = false;              // they overflowed and nothing was updated
  double step_seconds = 0.0;
  double tokens_per_second = 0.0;
};

struct EvalReport {
  int64_t step = 0;
  double loss = 0.0;                    // nats per token
  std::optional<double> bits_per_byte;  // where the source knows its bytes
  int64_t tokens = 0;
};

// What happens during a run, as it happens; called on rank 0's thread.
class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  virtual void on_start(const RunFacts&) {}
  virtual void on_step(const StepReport&) {}
  virtual void on_eval(const EvalReport&) {}
  virtual void on_checkpoint(const std::string& /*dir*/) {}
};

struct TrainOptions {
  bool resume = false;  // go on from the newest good checkpoint of the run folder, if there is one
  bool accept_schedule = false;  // also where the learning rates are not those that were planned
  // Set from outside, at any time. `stop`: save after this step and return, leaving a validation
  // unfinished. `save`: save after this step and go on; taken back when that is seen.
  const std::atomic<bool>* stop = nullptr;
  std::atomic<bool>* save = nullptr;
  TrainObserver* observer = nullptr;
};

struct TrainResult {
  RunState state;
  TokenCounts counts;
  double train_loss = 0.0;
  std::optional<EvalReport> eval;  // the last one
  std::string checkpoint;          // the last one saved
  bool stopped = false;            // by `stop`, before the end
};

// Runs it to its end. Throws ErrorCode::Config when the run folder already holds checkpoints
// and resume was not asked for, or when settings that define the run differ from the checkpoint's,
// or the rates that were planned do and accept_schedule is not set.
TrainResult train(std::shared_ptr<Storage> storage, const ResolvedRun& resolved,
                  const TrainOptions& options);

}  // namespace ingot
