// One rank's training machinery: memory, weights, model and optimizer, built as a resolved run
// says. The trainer feeds it data; `bench train` feeds it synthetic tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/device/compute_device.h"
#include "model/fp8_scales.h"
#include "model/transformer.h"
#include "optim/updater.h"
#include "parallel/comm/world.h"
#include "parallel/shard/offloaded_store.h"
#include "plan/resolved_run.h"
#include "spec/table/placed_tensors.h"
#include "train/step/loss_scale.h"
#include "train/step/rank_choices.h"

namespace ingot {

class Engine {
 public:
  // Allocates everything the run will need on its device, by its train_table(). The caller has
  // checked that it fits (plan/fit.h).
  Engine(const ResolvedRun& run, World& world);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void init(uint64_t seed);  // weights by their init rules

  void start_step();
  // Adds the gradients of one micro-batch, scaled so that the step's sum is the gradient of the
  // mean loss; a step has as many micro-batches as batch.tokens needs. `last`: of the step.
  void accumulate(const MicroBatch& batch, double scale, bool last);
  // Reduces, clips and applies; `step` counts from 1. Does not wait for the gradients.
  void update(double lr, int64_t step);
  // The report of the last update. Waits for its gradients, not for the update. Call it once a
  // step, before the next one. In fp16 a step that overflows updates nothing and is no error.
  UpdateReport take_report();
  // Σ token losses of the step's micro-batches, z-loss included. Call it once a step; after
  // take_report() it does not wait.
  double take_loss() { return model_->take_loss(); }
  // Forward pass only. Call it between steps, since it may overwrite gradients. `search`, if not
  // null, is shown every activation.
  StepLoss evaluate(const MicroBatch& batch, FirstNotFinite* search = nullptr);
  // (B·T), of each token of the last evaluation; 0 without a target.
  std::vector<double> token_losses() const { return model_->token_losses(); }

  // In fp16, the factor of the next step's loss.
  std::optional<double> loss_scale() const;
  // Between steps: the state of a run besides weights and optimizer states.
  std::vector<StateSection*> sections();

  const TensorTable& parameters() const { return parameters_; }
  ParameterStore& store() { return *store_; }
  const PlacedTensors& placed() const { return placed_; }
  Context& context() { return compute_.context(); }

 private:
  void make_updater();  // of store_; moves that to host memory if the run asks for it

  const ResolvedRun run_;
  RankChoices choices_;
  ComputeDevice compute_;
  TensorTable parameters_;
  PlacedTensors placed_;
  std::optional<ComputeDevice> host_;  // updates parameters that a GPU offloads
  std::unique_ptr<ParameterStore> store_;
  std::unique_ptr<Transformer> model_;
  std::unique_ptr<Updater> updater_;
  int64_t micro_steps_ = 0;              // of the current step
  std::optional<LossScale> loss_scale_;  // in fp16
  // Under fp8: the ranks that read batches, and the scales, equal on all of them.
  std::unique_ptr<Communicator> readers_;
  std::optional<Fp8Scales> fp8_scales_;
};

}  // namespace ingot
