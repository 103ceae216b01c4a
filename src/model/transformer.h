// The LLaMA family with its backward pass written out.
#pragma once

#include <cstdint>
#include <vector>

#include "core/context.h"
#include "model/layer.h"
#include "ops/lm_head.h"
#include "parallel/shard/parameter_store.h"
#include "spec/llama_table.h"
#include "spec/placed_tensors.h"

namespace ingot {

// One micro-batch in host memory; the model copies it into its input rows.
struct MicroBatch {
  const int32_t* tokens = nullptr;          // (B, T)
  const int32_t* targets = nullptr;         // (B, T); kNoTarget adds no loss
  const int32_t* document_start = nullptr;  // (B, T), needed when the shape has a document mask
};
inline constexpr int32_t kNoTarget = -1;

struct StepLoss {
  double sum = 0.0;         // Σ token losses in nats; training includes the z-loss term
  int64_t num_targets = 0;  // tokens that count
};

// Holds no memory of its own: weights come from the store, everything else from rows of
// llama_train_table in `placed`. One instance per rank; all its references must outlive it.
class Transformer {
 public:
  Transformer(Context& ctx, const ModelConfig& config, const TrainShape& shape, double z_loss,
              const PlacedTensors& placed, ParameterStore& store);

  // Forward and backward of one micro-batch: adds the gradients of scale · Σ token losses to the
  // store.
  StepLoss train_micro_step(const MicroBatch& batch, double scale);

  // Losses only, without z-loss.
  StepLoss evaluate(const MicroBatch& batch);

 private:
  // Parameter rows of a layer; what LayerWeights are looked up by.
  struct LayerIds {
    TensorId attn_norm, qkv, q_norm, k_norm, out, mlp_norm, up, down;
  };

  void check_ids(const MicroBatch& batch) const;
  void load(const MicroBatch& batch);
  void forward();
  void backward();
  void backward_mlp(const LayerIds& ids, const LayerWeights& w, const LayerTensors& x);
  void backward_attention(const LayerIds& ids, const LayerWeights& w, const LayerTensors& x);
  void recompute(int64_t layer, const LayerWeights& w);
  void attend(const LayerTensors& x, const HeadViews& heads);

  LayerWeights weights(const LayerIds& ids) const;
  void acquire_head();
  void release_head();
  StepLoss collect_loss(const MicroBatch& batch);
  void linear_gradient(const Tensor& dy, const Tensor& x, TensorId weight);
  // A slot for ops that only add: cleared when this is its first write.
  Tensor adding_slot(TensorId parameter);

  Context& ctx_;
  ModelConfig config_;
  TrainShape shape_;
  double z_loss_;
  const PlacedTensors& placed_;
  ParameterStore& store_;
  Layer layer_;

  TensorId embedding_, final_norm_, head_;  // head_ is embedding_ when tied
  std::vector<LayerIds> layer_ids_;
  std::vector<LayerTensors> layers_;
  RopeInput rope_;
  AttentionOptions attention_;
  std::vector<int32_t> positions_;  // (B, T), reset at each document
};

// Bytes of the largest workspace any op of a training step needs; goes into TrainShape.
int64_t train_workspace_bytes(const Context& ctx, const ModelConfig& config,
                              const TrainShape& shape);

}  // namespace ingot
