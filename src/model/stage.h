// A pipeline stage: consecutive layers of the model, or all of them. The first stage begins with
// the embedding; the last one ends with head and loss.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/device/context.h"
#include "model/batch_input.h"
#include "model/first_not_finite.h"
#include "model/layer.h"
#include "model/loss_head.h"
#include "model/offload.h"
#include "parallel/shard/parameter_store.h"
#include "spec/rows/block_use.h"
#include "spec/rows/transformer_table.h"
#include "spec/table/placed_tensors.h"

namespace ingot {

// A stage: layers [first_layer, end_layer) of the model `config`.
struct StageSetup {
  ModelConfig config;
  TrainShape shape;
  double z_loss = 0.0;
  const PlacedTensors& placed;
  ParameterStore& store;
  int64_t first_layer = 0;
  int64_t end_layer = 0;
};

// Owns no tensor memory: weights come from the store, all else from rows of transformer_train_table
// in `placed`. Both and the context must outlive it.
//
// A slot holds a micro-batch's rows from its forward to its backward pass. Passes of several slots
// may run in any order in which each slot's forward pass precedes its backward pass. Gradients of
// parameters accumulate in the order of the backward passes.
class Stage {
 public:
  Stage(Context& ctx, const StageSetup& setup);

  bool is_first() const { return first_ == 0; }
  bool is_last() const { return end_ == config_.layers; }
  int num_slots() const { return static_cast<int>(slots_.size()); }

  // The input of a slot's passes: needed on every pipeline stage, since all use the document mask.
  BatchInput& input(int slot) { return at(slot).input; }
  // Gradients are those of scale · Σ token losses, for all slots until the next call.
  void set_loss_scale(double scale);

  // in → out; on the first stage tokens → out.
  void forward(int slot);
  // d_out → d_in; on the last stage from the loss of `out`, on the first stage to the embedding's
  // gradient. Adds the gradients of the stage's parameters to the store. The last stage computes
  // the losses here, in one pass with their gradient.
  void backward(int slot);
  // Forward pass to the losses, without z-loss; keeps nothing for a backward pass. Last stage only.
  // If `search` is not null, it inspects the activations.
  void evaluate(int slot, FirstNotFinite* search = nullptr);

  // The residual stream (N, C) at the stage's input and output, and its gradient there. All slots
  // share the gradient: write d_out before a backward pass, read d_in before the next one. For
  // pipelines of several stages, which no layout has yet.
  Tensor in(int slot) const { return at(slot).layers.front().residual; }
  Tensor out(int slot) const { return at(slot).loss.residual; }
  Tensor d_in(int slot) const { return at(slot).loss.d_residual; }
  Tensor d_out(int slot) const { return at(slot).loss.d_residual; }
  Tensor losses(int slot) const { return at(slot).loss.losses; }  // (N), on the last stage

  // A key of all that the passes' work depends on besides the contents of memory, if it can be
  // recorded and replayed; otherwise nothing.
  std::optional<std::string> record_key() const;
  // A recording was replayed instead of both passes.
  void note_record();

  // Called at the beginning of a tick (spec/rows/block_use.h) of a micro-step or an evaluation: its
  // blocks are acquired and nothing of it is computed. For tests that inspect the lifetimes of
  // rows.
  void watch_ticks(std::function<void(int tick)> watcher) { on_tick_ = std::move(watcher); }

 private:
  struct Slot {
    BatchInput input;
    std::vector<LayerTensors> layers, evaluated_layers;
    std::vector<LayerGradients> gradients;
    LossTensors loss;
  };
  enum class Mode { Train, Evaluate };

  Slot make_slot(const PlacedTensors& placed, int64_t slot) const;
  const Slot& at(int slot) const { return slots_[static_cast<size_t>(slot)]; }
  Slot& at(int slot) { return slots_[static_cast<size_t>(slot)]; }
  int64_t layer_at(size_t i) const { return first_ + static_cast<int64_t>(i); }

  void run_forward(const Slot& slot, Mode mode, FirstNotFinite* search = nullptr);
  LayerPass pass_of(const Slot& slot, int64_t layer, const LayerWeights& w,
                    const LayerTensors& x) const {
    return {.w = w,
            .x = x,
            .rope = slot.input.rope(),
            .attention = slot.input.attention(config_.window_of(layer) > 0)};
  }
  void run_loss(const Slot& slot, Mode mode);
  LossWeights loss_weights() const;

  // begin: the tick of `uses` begins and their blocks are acquired. end: their gradients, if they
  // write any, and their blocks are released.
  void begin(std::span<const BlockUse> uses);
  void end(std::span<const BlockUse> uses);
  void begin(const BlockUse& use) { begin({&use, 1}); }
  void end(const BlockUse& use) { end({&use, 1}); }

  Context& ctx_;
  const ModelConfig config_;
  const TrainShape shape_;
  ParameterStore& store_;
  const int64_t first_, end_;
  const Ticks ticks_;
  const Layer layer_;
  const LossHead head_;
  std::function<void(int tick)> on_tick_;

  TensorId embedding_, position_;  // position_: if positions are learned
  Affine<TensorId> final_norm_;
  TensorId head_weight_;                     // embedding_ when tied
  Quantized head8_;                          // the head's 8-bit copies, with fp8_head
  std::vector<LayerParameters> parameters_;  // by layer of the stage
  Tensor loss_scale_;                        // (1) F64
  std::vector<Slot> slots_;
  ActivationOffload offload_;
  // Versions of the weights that the 8-bit copies were made from.
  int64_t quantized_layers_ = -1, quantized_head_ = -1;
};

}  // namespace ingot
