// A run of consecutive layers of the model: all of them, or what one stage of a pipeline holds. The
// first stage begins with the embedding, the last one ends with head and loss.
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

// What a stage is made of: layers [first_layer, end_layer) of the model `config`.
struct StageSetup {
  ModelConfig config;
  TrainShape shape;
  double z_loss = 0.0;
  const PlacedTensors& placed;
  ParameterStore& store;
  int64_t first_layer = 0;
  int64_t end_layer = 0;
};

// Holds no memory of its own: weights come from the store, everything else from rows of
// transformer_train_table in `placed`; both and the context must outlive it.
//
// A slot is where a micro-batch has its rows from its forward to its backward pass. Passes of
// several slots may alternate in any order in which each slot's forward comes before its backward;
// gradients of parameters add up in the order of the backward passes.
class Stage {
 public:
  Stage(Context& ctx, const StageSetup& setup);

  bool is_first() const { return first_ == 0; }
  bool is_last() const { return end_ == config_.layers; }
  int num_slots() const { return static_cast<int>(slots_.size()); }

  // What a slot's passes read: at every stage of a pipeline, since all need a document mask.
  BatchInput& input(int slot) { return at(slot).input; }
  // Gradients are those of scale · Σ token losses, for all slots until the next call.
  void set_loss_scale(double scale);

  // in, at the first stage the tokens → out.
  void forward(int slot);
  // d_out, at the last stage the loss of `out` → d_in, at the first stage the embedding's gradient;
  // adds the gradients of the stage's parameters to the store. At the last stage the losses are
  // computed here, in one pass with their gradient.
  void backward(int slot);
  // Forward to the losses, without z-loss and without a trace for a backward pass. Last stage only.
  // `search`, where it is not null, is shown what is computed.
  void evaluate(int slot, FirstNotFinite* search = nullptr);

  // The stream (N, C) where it enters and leaves the stage, and its gradient there, which is one
  // for all slots: d_out is written before a backward pass, d_in read before the next.
  Tensor in(int slot) const { return at(slot).layers.front().residual; }
  Tensor out(int slot) const { return at(slot).loss.residual; }
  Tensor d_in(int slot) const { return at(slot).loss.d_residual; }
  Tensor d_out(int slot) const { return at(slot).loss.d_residual; }
  Tensor losses(int slot) const { return at(slot).loss.losses; }  // (N), at the last stage

  // What the work of the passes depends on besides the contents of memory, where it may be recorded
  // and issued again; nothing otherwise.
  std::optional<std::string> record_key() const;
  // A record was issued in place of both passes.
  void note_record();

  // Called where a tick of a micro-step or an evaluation begins (spec/rows/block_use.h): its blocks
  // are acquired and nothing of it is computed. For who looks at lives of rows, as tests do; nobody
  // by default.
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

  // The tick of `uses` begins and their blocks are acquired; their gradients, where they write
  // some, and their blocks are handed back.
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

  TensorId embedding_, position_;  // position_: where positions are learned
  Affine<TensorId> final_norm_;
  TensorId head_weight_;                     // embedding_ when tied
  Quantized head8_;                          // the head's 8-bit copies, under fp8_head
  std::vector<LayerParameters> parameters_;  // by layer of the stage
  Tensor loss_scale_;                        // (1) F64
  std::vector<Slot> slots_;
  ActivationOffload offload_;
  // Of the weights that 8-bit copies were made of.
  int64_t quantized_layers_ = -1, quantized_head_ = -1;
};

}  // namespace ingot
