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
  // Allocates everything the run will ever need on its device: train_table() of it. Whether that
  // fits was asked before (plan/fit.h).
  Engine(const ResolvedRun& run, World& world);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void init(uint64_t seed);  // weights by their init rules

  void start_step();
  // Adds a micro-batch's gradients, scaled so that the step's sum is the gradient of the mean loss;
  // as many as batch.tokens are. `last`: of the step.
  void accumulate(const MicroBatch& batch, double scale, bool last);
  // Reduces, clips and applies; `step` counts from 1. Does not wait for the gradients.
  void update(double lr, int64_t step);
  // Of the last update; waits for its gradients, not for the update. Once a step and before the
  // next one. In fp16 a step that overflows updates nothing and is no error.
  UpdateReport take_report();
  // Σ token losses, z-loss included, of what the step accumulated, once. After take_report() it
  // need not wait.
  double take_loss() { return model_->take_loss(); }
  // Between steps: it may overwrite gradients. `search`, where it is not null, is shown what is
  // computed.
  StepLoss evaluate(const MicroBatch& batch, FirstNotFinite* search = nullptr);

  // What the loss of the next step is multiplied with, in fp16.
  std::optional<double> loss_scale() const;
  // Between steps: what goes on with a run besides weights and optimizer states.
  std::vector<StateSection*> sections();

  const TensorTable& parameters() const { return parameters_; }
  ParameterStore& store() { return *store_; }
  const PlacedTensors& placed() const { return placed_; }
  Context& context() { return compute_.context(); }

 private:
  void make_updater();  // of store_, which lies in host memory then where the run asks for that

  const ResolvedRun run_;
  RankChoices choices_;
  ComputeDevice compute_;
  TensorTable parameters_;
  PlacedTensors placed_;
  std::optional<ComputeDevice> host_;  // updates what is offloaded from a GPU
  std::unique_ptr<ParameterStore> store_;
  std::unique_ptr<Transformer> model_;
  std::unique_ptr<Updater> updater_;
  int64_t micro_steps_ = 0;              // of the step at hand
  std::optional<LossScale> loss_scale_;  // in fp16
  // Under fp8: the ranks that read batches, and the scales of what all of them meet.
  std::unique_ptr<Communicator> readers_;
  std::optional<Fp8Scales> fp8_scales_;
};

}  // namespace ingot
