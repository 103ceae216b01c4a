// The LLaMA family with its backward pass written out.
#pragma once

#include <cstdint>

#include "core/context.h"
#include "parallel/shard/parameter_store.h"
#include "spec/llama_table.h"
#include "spec/placed_tensors.h"

namespace ingot {

// One micro-batch. Tokens and targets are host memory, copied into the run's input rows.
struct MicroBatch {
  const int32_t* tokens = nullptr;          // (B, T)
  const int32_t* targets = nullptr;         // (B, T); -1 = no loss
  const int32_t* document_start = nullptr;  // (B, T) or null; see AttentionOptions
};

struct StepLoss {
  double sum = 0.0;         // Σ token losses in nats, without z-loss scaling tricks
  int64_t num_targets = 0;  // tokens that count
};

// Holds no memory of its own: weights come from the store, everything else from `placed` rows of
// llama_train_table. One instance per rank; calls are ordered by ctx.
class Transformer {
 public:
  Transformer(Context& ctx, const ModelConfig& config, const TrainShape& shape, double z_loss,
              const PlacedTensors& placed, ParameterStore& store);

  // Forward and backward of one micro-batch: adds the gradients of scale · Σ token losses to the
  // store.
  StepLoss train_micro_step(const MicroBatch& batch, double scale);

  // Losses only.
  StepLoss evaluate(const MicroBatch& batch);

 private:
  struct LayerRows;
  void load(const MicroBatch& batch);
  void forward_blocks();

  Context& ctx_;
  ModelConfig config_;
  TrainShape shape_;
  double z_loss_;
  const PlacedTensors& placed_;
  ParameterStore& store_;
};

// Bytes of the largest workspace any op of a training step needs; goes into TrainShape.
int64_t train_workspace_bytes(const ModelConfig& config, const TrainShape& shape, int num_threads);

}  // namespace ingot
