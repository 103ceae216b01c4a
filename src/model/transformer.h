// The whole model on one rank: micro-batches in, losses and gradients out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/async/recorded_work.h"
#include "core/device/context.h"
#include "model/stage.h"
#include "ops/reduce.h"
#include "spec/rows/action.h"
#include "spec/rows/block_use.h"

namespace ingot {

struct StepLoss {
  double sum = 0.0;         // Σ token losses in nats
  int64_t num_targets = 0;  // tokens that contribute
};

// A stage with all layers, driven by the actions of a micro-step: loads the batch, records the work
// if possible, and sums losses. One instance per rank; all references must outlive it.
class Transformer {
 public:
  Transformer(Context& ctx, const ModelConfig& config, const TrainShape& shape, double z_loss,
              const PlacedTensors& placed, ParameterStore& store);

  void start_step() { loss_sum_->reset(); }  // discards the last step's sum
  // Forward and backward pass of one micro-batch: adds the gradients of scale · Σ token losses to
  // the store. `last`: of the step. Does not wait for its own work.
  void train_micro_step(const MicroBatch& batch, double scale, bool last);
  // Σ token losses of the step's micro-steps in nats, including z-loss; waits for them.
  double take_loss() { return loss_sum_->take(); }

  // Losses only, without z-loss. If `search` is not null, it inspects the activations.
  StepLoss evaluate(const MicroBatch& batch, FirstNotFinite* search = nullptr);
  // (N), of each token of the last evaluation; 0 without a target.
  std::vector<double> token_losses() const;

  // As Stage::watch_ticks().
  void watch_ticks(std::function<void(int tick)> watcher) {
    stage_.watch_ticks(std::move(watcher));
  }

 private:
  // All computation of a micro-step on the loaded batch; replays the recording if there is one.
  void run_micro_step(bool last);
  void issue_micro_step(bool last);

  Context& ctx_;
  ParameterStore& store_;
  Stage stage_;
  int64_t N_;  // tokens of a micro-batch
  const std::vector<Action> actions_;
  const std::vector<BlockUse> train_uses_, evaluation_uses_;
  std::unique_ptr<RecordedWork> recorded_;
  std::unique_ptr<RunningSum> loss_sum_;
};

}  // namespace ingot
