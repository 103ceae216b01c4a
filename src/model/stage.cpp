#include "model/stage.h"

#include "core/error/error.h"
#include "ops/axpy.h"
#include "ops/embedding.h"
#include "ops/memory.h"

namespace ingot {

Stage::Stage(Context& ctx, const StageSetup& setup)
    : ctx_(ctx),
      config_(setup.config),
      shape_(setup.shape),
      store_(setup.store),
      first_(setup.first_layer),
      end_(setup.end_layer),
      ticks_(ticks_of(config_)),
      layer_(config_, shape_.B, shape_.T),
      head_(config_.norm_eps,
            {.ignore_index = kNoTarget,
             .z_loss = setup.z_loss,
             .softcap = config_.softcap,
             .chunk = shape_.loss_chunk},
            setup.placed.find("head_workspace")),
      loss_scale_(setup.placed.find("loss.scale")),
      offload_(ctx, setup.placed, config_.layers, shape_.offload_layers) {
  check(first_ >= 0 && first_ < end_ && end_ <= config_.layers, ErrorCode::Internal,
        "a stage expected some of {} layers, got [{}, {})", config_.layers, first_, end_);
  check(shape_.offload_layers == 0 || (is_first() && is_last()), ErrorCode::Internal,
        "a stage that offloads activations expected all {} layers, got [{}, {})", config_.layers,
        first_, end_);
  const TensorTable parameters = transformer_parameters(config_);
  embedding_ = parameters.find("embedding.weight");
  position_ = parameters.try_find("position.weight");
  final_norm_ = {parameters.find("final_norm.weight"), parameters.try_find("final_norm.bias")};
  const char* head = config_.tied ? "embedding.weight" : "head.weight";
  head_weight_ = parameters.find(head);
  if (shape_.fp8_head) head8_ = fp8_head_weight(setup.placed, config_, head);
  for (int64_t layer = first_; layer < end_; ++layer)
    parameters_.emplace_back(parameters, setup.placed, layer, shape_.fp8);
  for (int64_t slot = 0; slot < shape_.slots; ++slot)
    slots_.push_back(make_slot(setup.placed, slot));
  const RopeInput& rope = slots_.front().input.rope();
  if (rope.cos.defined()) rope_table(ctx_, rope_frequencies(config_.rope), rope.cos, rope.sin);
}

Stage::Slot Stage::make_slot(const PlacedTensors& placed, int64_t index) const {
  const auto row = [&](std::string_view what) { return placed.find(slot_name(index, what)); };
  Slot slot{.input = BatchInput(ctx_, config_, shape_, placed, index),
            .layers = {},
            .evaluated_layers = {},
            .gradients = {},
            .loss = {.residual = row("final_residual"),
                     .norm = row("final_norm"),
                     .rstd = row("final_rstd"),
                     .input8 = shape_.fp8_head ? fp8_head_input(placed, config_) : Quantized{},
                     .targets = row("targets"),
                     .losses = row("losses"),
                     .scale = loss_scale_,
                     .d_residual = placed.find("d.residual")}};
  for (int64_t layer = first_; layer < end_; ++layer) {
    const LayerTensors x = layer_tensors(placed, config_, shape_, layer, index);
    slot.layers.push_back(x);
    slot.evaluated_layers.push_back(without_maxima(x));
    slot.gradients.push_back(
        layer_gradients(placed, config_, shape_, layer, x, /*previous=*/layer > first_));
  }
  return slot;
}

void Stage::set_loss_scale(double scale) {
  copy_from_host(ctx_, &scale, loss_scale_);
}

void Stage::forward(int slot) {
  run_forward(at(slot), Mode::Train);
}

void Stage::run_forward(const Slot& slot, Mode mode, FirstNotFinite* search) {
  const bool training = mode == Mode::Train;
  const std::vector<LayerTensors>& layers = training ? slot.layers : slot.evaluated_layers;
  const bool new_weights = quantized_layers_ != store_.weights_version();
  if (is_first()) {
    const BlockUse use{0, Pass::Forward, ticks_.embedding()};
    begin(use);
    const Tensor& stream = layers[0].residual;
    embedding_forward(ctx_, slot.input.tokens(), store_.weight(embedding_), stream);
    if (config_.embedding_scale != 1.0) axpy(ctx_, config_.embedding_scale, stream, {}, stream);
    if (position_.valid())
      embedding_add(ctx_, slot.input.positions(), store_.weight(position_), stream);
    if (search != nullptr) search->look("embedding", stream);
    end(use);
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    const int64_t layer = layer_at(i);
    const BlockUse use{layer_block(layer), Pass::Forward, ticks_.forward(static_cast<int>(layer))};
    begin(use);
    const LayerWeights w = parameters_[i].weights(store_);
    if (new_weights)
      for (const auto* linear : {&w.qkv, &w.out, &w.up, &w.down})
        quantize_weight(ctx_, linear->weight);
    const LayerPass pass = pass_of(slot, layer, w, layers[i]);
    layer_.forward(ctx_, pass);
    const bool last = i + 1 == layers.size();
    if (training && !last) offload_.before_forward(layer + 1);
    const Tensor& next = last ? slot.loss.residual : layers[i + 1].residual;
    layer_.leave(ctx_, pass, next);
    if (search != nullptr) search->look_at_layer(layer, layers[i], next);
    if (training) offload_.after_forward(layer);
    end(use);
  }
  quantized_layers_ = store_.weights_version();
}

void Stage::backward(int index) {
  const Slot& slot = at(index);
  if (is_last()) run_loss(slot, Mode::Train);
  for (size_t i = slot.layers.size(); i-- > 0;) {
    const int64_t layer = layer_at(i);
    const BlockUse use{layer_block(layer), Pass::Backward,
                       ticks_.backward(static_cast<int>(layer))};
    begin(use);
    const LayerWeights w = parameters_[i].weights(store_);
    const LayerPass pass = pass_of(slot, layer, w, slot.layers[i]);
    const LayerGradients& d = slot.gradients[i];
    // Within a stage the norm that made it has rounded it already; one after the branch will.
    if (i + 1 == slot.layers.size() && !config_.norm_after()) quantize_both(ctx_, d.down);
    offload_.before_backward(layer);
    layer_.rebuild(ctx_, pass);
    const LayerSlots slots = parameters_[i].slots(store_);
    layer_.backward(ctx_, pass, {.d = d, .slots = slots});
    offload_.after_backward(layer);
    end(use);
  }
  if (!is_first()) return;
  const BlockUse use{0, Pass::Backward, ticks_.last(), /*reads_weights=*/false};
  begin(use);
  const Tensor d = d_in(index);
  if (position_.valid())
    embedding_backward(ctx_, slot.input.positions(), d,
                       adding_slot(ctx_, store_.gradient(position_)));
  if (config_.embedding_scale != 1.0) axpy(ctx_, config_.embedding_scale, d, {}, d);
  embedding_backward(ctx_, slot.input.tokens(), d, adding_slot(ctx_, store_.gradient(embedding_)));
  end(use);
}

void Stage::evaluate(int slot, FirstNotFinite* search) {
  check(is_last(), ErrorCode::Internal, "losses expected the last stage, got layers [{}, {})",
        first_, end_);
  run_forward(at(slot), Mode::Evaluate, search);
  run_loss(at(slot), Mode::Evaluate);
  if (search == nullptr) return;
  search->look_at_final_norm(end_, at(slot).loss.norm, at(slot).loss.rstd);
  search->look("loss of the output head", losses(slot));
}

void Stage::run_loss(const Slot& slot, Mode mode) {
  const Pass pass = mode == Mode::Train ? Pass::Loss : Pass::Forward;
  std::vector<BlockUse> uses;
  if (config_.tied) uses.push_back({0, pass, ticks_.loss()});
  uses.push_back({head_block(config_), pass, ticks_.loss()});
  begin(uses);
  const LossWeights w = loss_weights();
  quantized_head_ = store_.weights_version();
  if (mode == Mode::Train) {
    const TensorId bias = final_norm_.bias;
    const LossSlots slots{.norm = {store_.gradient(final_norm_.weight),
                                   bias.valid() ? store_.gradient(bias) : GradientSlot{}},
                          .head = store_.gradient(head_weight_)};
    head_.backward(ctx_, w, slot.loss, slots);
  } else {
    head_.forward(ctx_, w, slot.loss);
  }
  end(uses);
}

LossWeights Stage::loss_weights() const {
  Operand head = store_.weight(head_weight_);
  head.fp8 = head8_;
  const TensorId bias = final_norm_.bias;
  return {
      .norm = {store_.weight(final_norm_.weight), bias.valid() ? store_.weight(bias) : Operand{}},
      .head = head,
      .head_changed = quantized_head_ != store_.weights_version()};
}

std::optional<std::string> Stage::record_key() const {
  // Documents change what attention launches; copies to the host go through a stream of their own.
  if (shape_.document_mask || shape_.offload_layers > 0) return std::nullopt;
  const int64_t version = store_.weights_version();
  return fmt::format("{} {}", quantized_layers_ == version, quantized_head_ == version);
}

void Stage::note_record() {
  quantized_layers_ = quantized_head_ = store_.weights_version();
}

void Stage::begin(std::span<const BlockUse> uses) {
  for (const BlockUse& use : uses) store_.acquire(use);
  if (on_tick_) on_tick_(uses.front().tick);
}

void Stage::end(std::span<const BlockUse> uses) {
  for (const BlockUse& use : uses)
    if (use.writes_gradients()) store_.release_gradients(use.block);
  for (const BlockUse& use : uses) store_.release(use);
}

}  // namespace ingot
