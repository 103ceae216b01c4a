// One rank's training machinery: memory, weights, model and optimizer, built from a run config.
// The trainer feeds it data; `bench train` feeds it synthetic tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/compute_device.h"
#include "model/fp8_scales.h"
#include "model/transformer.h"
#include "optim/updater.h"
#include "parallel/comm/world.h"
#include "spec/placed_tensors.h"
#include "spec/run_config.h"
#include "train/loss_scale.h"

namespace ingot {

// system.device with `auto` decided: several local ranks compute on the CPU, since a GPU has one.
// Throws ErrorCode::Config when the device cannot compute in train.precision or with such heads.
Device run_device(const RunConfig& config);
// train.precision with `auto` decided.
Precision precision_of(const RunConfig& config, Device device);
// Weights and activations of a run on that device.
DType compute_dtype(const RunConfig& config, Device device);
// train.loss_chunk with 0 decided.
int64_t loss_chunk(const RunConfig& config, Device device);

// Every row one rank of this run allocates on ctx's device; plan_memory() of it is the prediction.
TensorTable train_table(const Context& ctx, const RunConfig& config);

// Threads of one rank, of system.threads or the cores that there are.
int threads_per_rank(const RunConfig& config);
// plan_memory() of that table on run_device(); nothing of it is allocated.
int64_t planned_bytes(const RunConfig& config, int threads);
// The same, but throws where Engine would for want of memory.
int64_t checked_bytes(const RunConfig& config, int threads, bool resumed);

class Engine {
 public:
  // Allocates everything the run will ever need on run_device(). Before that it throws
  // ErrorCode::Memory when all ranks together would not fit into what is free there, saying what
  // would: where the run is `resumed`, of what a resume may change.
  Engine(const RunConfig& config, World& world, int threads_per_rank, bool resumed = false);
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
  StepLoss evaluate(const MicroBatch& batch);  // between steps: it may overwrite gradients

  // In fp16 part of the run's state, to be saved and restored with the weights.
  std::optional<LossScaleState> loss_scale() const;
  void set_loss_scale(const LossScaleState& state);
  // Under fp8 likewise, between steps; empty otherwise.
  std::vector<float> fp8_scales() const;
  void set_fp8_scales(const std::vector<float>& saved);

  const TensorTable& parameters() const { return parameters_; }
  ParameterStore& store() { return *store_; }
  const PlacedTensors& placed() const { return placed_; }
  Context& context() { return compute_.context(); }

 private:
  const RunConfig config_;
  World& world_;
  ComputeDevice compute_;
  TensorTable parameters_;
  PlacedTensors placed_;
  std::unique_ptr<ParameterStore> store_;
  std::unique_ptr<Transformer> model_;
  std::unique_ptr<Updater> updater_;
  int64_t micro_steps_ = 0;              // of the step at hand
  std::optional<LossScale> loss_scale_;  // in fp16
  std::optional<Fp8Scales> fp8_scales_;  // under fp8
};

}  // namespace ingot
