// The LLaMA family with its backward pass written out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/context.h"
#include "core/recorded_work.h"
#include "model/layer.h"
#include "model/offload.h"
#include "ops/lm_head.h"
#include "ops/reduce.h"
#include "parallel/shard/parameter_store.h"
#include "spec/block_use.h"
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
  double sum = 0.0;         // Σ token losses in nats
  int64_t num_targets = 0;  // tokens that count
};

// Holds no memory of its own: weights come from the store, everything else from rows of
// llama_train_table in `placed`. One instance per rank; all its references must outlive it.
class Transformer {
 public:
  Transformer(Context& ctx, const ModelConfig& config, const TrainShape& shape, double z_loss,
              const PlacedTensors& placed, ParameterStore& store);

  void start_step() { loss_sum_->reset(); }  // whatever became of the last one
  // Forward and backward of one micro-batch: adds the gradients of scale · Σ token losses to the
  // store. `last`: of the step. Does not wait for its own work.
  void train_micro_step(const MicroBatch& batch, double scale, bool last);
  // Σ token losses in nats, z-loss included, of the step's micro-steps, which are waited for.
  double take_loss() { return loss_sum_->take(); }

  // Losses only, without z-loss.
  StepLoss evaluate(const MicroBatch& batch);

  // Called where a tick of a micro-step or an evaluation begins (spec/block_use.h): its blocks are
  // acquired and nothing of it is computed. For who looks at lives of rows, as tests do; nobody by
  // default.
  void watch_ticks(std::function<void(int tick)> watcher) { on_tick_ = std::move(watcher); }

 private:
  // Parameter rows of a layer; what LayerWeights are looked up by.
  struct LayerIds {
    TensorId attn_norm, qkv, q_norm, k_norm, out, mlp_norm, up, down;
  };

  // Everything a micro-step computes, on what load() left on the device; where it is recorded, by
  // the record.
  void run_micro_step(double scale, bool last);
  void issue_micro_step(double scale, bool last);
  void check_ids(const MicroBatch& batch) const;
  void load(const MicroBatch& batch);
  enum class Mode { Train, Evaluate };
  void forward(Mode mode);
  void begin_tick(int tick) {
    if (on_tick_) on_tick_(tick);
  }
  // Acquires the use's block and begins its tick.
  void begin(const BlockUse& use);
  void backward();
  void backward_mlp(size_t layer, const LayerWeights& w);
  void backward_attention(size_t layer, const LayerWeights& w);
  void recompute(size_t layer, const LayerWeights& w);
  void attend(const LayerTensors& x, const HeadViews& heads);
  // The norm's output as rms_norm_backward() is to build it again, or nothing where it is kept.
  Operand built_again(size_t layer, const Operand& norm) const;
  ActivationPolicy policy(size_t layer) const {
    return policy_of(shape_, static_cast<int64_t>(layer), config_.layers);
  }

  LayerTensors layer_tensors(int64_t layer) const;
  LayerGradients layer_gradients(int64_t layer) const;
  LayerWeights weights(size_t layer) const;
  // The head's weight as its products read it.
  Operand head_weight() const;
  // Of final norm and head; a tied head reads the embedding.
  void begin_loss(Mode mode);
  void end_loss(Mode mode);
  const std::vector<BlockUse>& uses(Mode mode) const {
    return mode == Mode::Train ? train_uses_ : evaluation_uses_;
  }
  void weight_gradient(const Operand& dy, const Operand& x, TensorId weight);
  // A slot for ops that only add: cleared when this is its first write.
  Tensor adding_slot(TensorId parameter);

  Context& ctx_;
  ModelConfig config_;
  TrainShape shape_;
  double z_loss_;
  const PlacedTensors& placed_;
  ParameterStore& store_;
  Layer layer_;
  const Ticks ticks_;
  const std::vector<BlockUse> train_uses_, evaluation_uses_;
  std::function<void(int tick)> on_tick_;

  TensorId embedding_, final_norm_, head_;  // head_ is embedding_ when tied
  std::vector<LayerIds> layer_ids_;
  std::vector<LayerTensors> layers_;
  std::vector<LayerTensors> evaluated_layers_;  // the same, but no maxima are recorded
  std::vector<LayerGradients> gradients_;       // by layer
  // Of the weights that 8-bit copies were made of.
  int64_t quantized_layers_ = -1, quantized_head_ = -1;
  ActivationOffload offload_;
  RopeInput rope_;
  AttentionOptions attention_;
  std::vector<int32_t> positions_;  // (B, T), reset at each document
  std::unique_ptr<RecordedWork> recorded_;
  std::unique_ptr<RunningSum> loss_sum_;
};

// Bytes of the largest workspace any op of a training step needs, the output head's apart; both go
// into TrainShape.
int64_t train_workspace_bytes(const Context& ctx, const ModelConfig& config,
                              const TrainShape& shape);
int64_t head_workspace_bytes(const Context& ctx, const ModelConfig& config,
                             const TrainShape& shape);

}  // namespace ingot
