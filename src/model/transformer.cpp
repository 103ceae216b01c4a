#include "model/transformer.h"

#include <algorithm>

#include "core/error.h"
#include "ops/embedding.h"
#include "ops/memory.h"
#include "ops/reduce.h"
#include "ops/rms_norm.h"

namespace ingot {
namespace {

// While it lives, ops take their scratch from `memory`. The head's is large, and lies where that of
// the layers is not needed at the time.
class ScratchFrom {
 public:
  ScratchFrom(Context& ctx, const Tensor& memory) : ctx_(ctx), before_(ctx.workspace) {
    ctx.workspace = Workspace(memory);
  }
  ~ScratchFrom() { ctx_.workspace = before_; }
  ScratchFrom(const ScratchFrom&) = delete;
  ScratchFrom& operator=(const ScratchFrom&) = delete;

 private:
  Context& ctx_;
  Workspace before_;
};

}  // namespace

Transformer::Transformer(Context& ctx, const ModelConfig& config, const TrainShape& shape,
                         double z_loss, const PlacedTensors& placed, ParameterStore& store)
    : ctx_(ctx),
      config_(config),
      shape_(shape),
      z_loss_(z_loss),
      placed_(placed),
      store_(store),
      layer_(config_, shape.B, shape.T),
      ticks_(ticks_of(config)),
      train_uses_(block_uses(config)),
      evaluation_uses_(ingot::evaluation_uses(config)),
      offload_(ctx, placed, config.layers, shape.offload_layers),
      recorded_(make_recorded_work(ctx)),
      loss_sum_(make_running_sum(ctx)) {
  const TensorTable parameters = llama_parameters(config);
  embedding_ = parameters.find("embedding.weight");
  final_norm_ = parameters.find("final_norm.weight");
  head_ = config.tied ? embedding_ : parameters.find("head.weight");

  for (int64_t i = 0; i < config.layers; ++i) {
    auto id = [&](std::string_view what) { return parameters.try_find(layer_name(i, what)); };
    layer_ids_.push_back({id("attn_norm.weight"), id("qkv.weight"), id("q_norm.weight"),
                          id("k_norm.weight"), id("out.weight"), id("mlp_norm.weight"),
                          id("up.weight"), id("down.weight")});
    layers_.push_back(layer_tensors(i));
    gradients_.push_back(layer_gradients(i));
  }
  evaluated_layers_ = layers_;
  for (LayerTensors& x : evaluated_layers_)
    for (Operand* operand : {&x.attn_norm, &x.attn, &x.mlp_norm, &x.act}) operand->fp8.amax = {};

  rope_ = rope_input(config, placed.find("rope.cos"), placed.find("rope.sin"));
  rope_.positions = placed.try_find("positions");
  rope_table(ctx_, rope_frequencies(config.rope), rope_.cos, rope_.sin);
  attention_.window = config.window;
  attention_.document_start = placed.try_find("document_start");
  if (rope_.positions.defined()) positions_.resize(static_cast<size_t>(shape.B * shape.T));
}

void Transformer::train_micro_step(const MicroBatch& batch, double scale, bool last) {
  load(batch);
  run_micro_step(scale, last);
  loss_sum_->add(placed_.find("losses"));
}

void Transformer::run_micro_step(double scale, bool last) {
  const std::optional<std::string> store_key = store_.record_key(last);
  // Documents change what attention launches; copies to the host go through a stream of their own.
  if (!store_key || shape_.document_mask || shape_.offload_layers > 0) {
    issue_micro_step(scale, last);
    return;
  }
  const int64_t version = store_.weights_version();
  const std::string key = fmt::format("{} {} {} {}", scale, *store_key,
                                      quantized_layers_ == version, quantized_head_ == version);
  if (!recorded_->run(key, [&] { issue_micro_step(scale, last); })) {
    store_.note_record(last);
    quantized_layers_ = quantized_head_ = version;
  }
}

void Transformer::issue_micro_step(double scale, bool last) {
  store_.begin(train_uses_, last);
  forward(Mode::Train);
  const Operand w = head_weight();
  const Tensor h = placed_.find("final_norm"), dh = h;  // (N, C), one in the other's place
  const Tensor targets = placed_.find("targets"), losses = placed_.find("losses");  // (N)
  const GradientSlot dw = store_.gradient(head_);
  const LossOptions options{kNoTarget, z_loss_, config_.softcap, shape_.loss_chunk};
  {
    const ScratchFrom scratch(ctx_, placed_.find("head_workspace"));
    if (w.fp8.defined())
      lm_head_loss_backward(ctx_, h, fp8_head_input(placed_, config_), w.fp8, targets, options,
                            scale, losses, dh, dw.tensor, dw.accumulate);
    else
      lm_head_loss_backward(ctx_, h, w.plain, targets, options, scale, losses, dh, dw.tensor,
                            dw.accumulate);
  }
  backward();
  store_.end();
}

StepLoss Transformer::evaluate(const MicroBatch& batch) {
  load(batch);
  store_.begin(evaluation_uses_, /*last=*/false);
  forward(Mode::Evaluate);
  const LossOptions options{kNoTarget, 0.0, config_.softcap, shape_.loss_chunk};
  const Operand w = head_weight();
  const Tensor h = placed_.find("final_norm");                                      // (N, C)
  const Tensor targets = placed_.find("targets"), losses = placed_.find("losses");  // (N)
  const ScratchFrom scratch(ctx_, placed_.find("head_workspace"));
  if (w.fp8.defined()) {
    Quantized scale = fp8_head_input(placed_, config_);
    scale.amax = {};
    lm_head_loss_forward(ctx_, h, scale, w.fp8, targets, options, losses);
  } else {
    lm_head_loss_forward(ctx_, h, w.plain, targets, options, losses);
  }
  end_loss(Mode::Evaluate);
  store_.end();
  const int64_t N = shape_.B * shape_.T;
  return {sum(ctx_, losses), N - std::count(batch.targets, batch.targets + N, kNoTarget)};
}

// Ids are checked here, in host memory: a GPU has no way to complain that would not cost a wait.
void Transformer::check_ids(const MicroBatch& batch) const {
  for (int64_t n = 0; n < shape_.B * shape_.T; ++n) {
    const int32_t token = batch.tokens[n], target = batch.targets[n];
    check(token >= 0 && token < config_.vocab &&
              (target == kNoTarget || (target >= 0 && target < config_.vocab)),
          ErrorCode::Data,
          "token {} or its target {} at position {} is outside the vocabulary of {}: was the data "
          "made with another tokenizer?",
          token, target, n, config_.vocab);
  }
}

void Transformer::load(const MicroBatch& batch) {
  check_ids(batch);
  copy_from_host(ctx_, batch.tokens, placed_.find("tokens"));
  copy_from_host(ctx_, batch.targets, placed_.find("targets"));
  if (!attention_.document_start.defined()) return;
  check(batch.document_start != nullptr, ErrorCode::Internal,
        "a run with a document mask expected document_start, got a batch without");
  copy_from_host(ctx_, batch.document_start, attention_.document_start);
  attention_.num_documents = attention_.max_document_tokens = 0;
  for (size_t i = 0; i < positions_.size(); ++i) {
    positions_[i] =
        static_cast<int32_t>(static_cast<int64_t>(i) % shape_.T) - batch.document_start[i];
    attention_.num_documents += positions_[i] == 0 ? 1 : 0;
    attention_.max_document_tokens =
        std::max<int64_t>(attention_.max_document_tokens, positions_[i] + 1);
  }
  copy_from_host(ctx_, positions_.data(), rope_.positions);
}

void Transformer::forward(Mode mode) {
  const bool training = mode == Mode::Train;
  const std::vector<LayerTensors>& layers = training ? layers_ : evaluated_layers_;
  const Tensor final_residual = placed_.find("final_residual");  // (N, C)
  const bool new_weights = quantized_layers_ != store_.weights_version();
  const BlockUse embedding{0, Pass::Forward, ticks_.embedding()};
  begin(embedding);
  embedding_forward(ctx_, placed_.find("tokens"), store_.weight(embedding_), layers[0].residual);
  store_.release(embedding);

  for (size_t i = 0; i < layers.size(); ++i) {
    const auto layer = static_cast<int>(i);
    const BlockUse use{layer_block(layer), Pass::Forward, ticks_.forward(layer)};
    begin(use);
    const LayerWeights w = weights(i);
    if (new_weights)
      for (const Operand* matrix : {&w.qkv, &w.out, &w.up, &w.down}) quantize_weight(ctx_, *matrix);
    const LayerTensors& x = layers[i];
    layer_.norm_input(ctx_, w, x);
    attend(x, layer_.project_qkv(ctx_, w, rope_, x));
    layer_.attention_output(ctx_, w, x);
    layer_.mlp_hidden(ctx_, w, x);
    const bool last = i + 1 == layers.size();
    if (training && !last) offload_.before_forward(static_cast<int64_t>(i) + 1);
    layer_.mlp_output(ctx_, w, x, last ? final_residual : layers[i + 1].residual);
    if (training) offload_.after_forward(static_cast<int64_t>(i));
    store_.release(use);
  }
  quantized_layers_ = store_.weights_version();

  begin_loss(mode);
  rms_norm_forward(ctx_, final_residual, store_.weight(final_norm_), config_.norm_eps,
                   placed_.find("final_norm"), placed_.find("final_rstd"));
  if (quantized_head_ != store_.weights_version()) quantize_weight(ctx_, head_weight());
  quantized_head_ = store_.weights_version();
}

void Transformer::backward() {
  const Tensor d_residual = placed_.find("d.residual");  // (N, C) gradient of the stream
  rms_norm_backward(ctx_, placed_.find("final_norm"), placed_.find("final_residual"),
                    store_.weight(final_norm_), placed_.find("final_rstd"), d_residual, false,
                    adding_slot(final_norm_));
  if (config_.tied) store_.release_gradients(0);
  store_.release_gradients(head_block(config_));
  end_loss(Mode::Train);

  for (size_t i = layers_.size(); i-- > 0;) {
    const auto layer = static_cast<int>(i);
    const BlockUse use{layer_block(layer), Pass::Backward, ticks_.backward(layer)};
    begin(use);
    const LayerWeights w = weights(i);
    if (i + 1 == layers_.size()) quantize_both(ctx_, gradients_.back().down);
    offload_.before_backward(static_cast<int64_t>(i));
    recompute(i, w);
    backward_mlp(i, w);
    backward_attention(i, w);
    offload_.after_backward(static_cast<int64_t>(i));
    store_.release_gradients(use.block);
    store_.release(use);
  }
  const BlockUse& embedding = train_uses_.back();
  begin(embedding);
  embedding_backward(ctx_, placed_.find("tokens"), d_residual, adding_slot(embedding_));
  store_.release_gradients(embedding.block);
  store_.release(embedding);
}

// Rebuilds what the policy did not keep and no backward op rebuilds on its way, by the same ops on
// the same inputs, so gradients are equal bit for bit under every policy.
void Transformer::recompute(size_t layer, const LayerWeights& w) {
  if (policy(layer) != ActivationPolicy::Full) return;
  const LayerTensors& x = layers_[layer];
  layer_.norm_input(ctx_, w, x);
  attend(x, layer_.project_qkv(ctx_, w, rope_, x));
  layer_.attention_output(ctx_, w, x);
  layer_.mlp_hidden(ctx_, w, x);
}

Operand Transformer::built_again(size_t layer, const Operand& norm) const {
  const bool dropped = norm.fp8.defined() || policy(layer) == ActivationPolicy::Selective;
  return dropped ? norm : Operand{};
}

void Transformer::backward_mlp(size_t layer, const LayerWeights& w) {
  const LayerIds& ids = layer_ids_[layer];
  const LayerTensors& x = layers_[layer];
  const LayerGradients& d = gradients_[layer];
  const Tensor d_norm = placed_.find("d.norm");  // (N, C)

  linear_activation_backward(ctx_, config_.activation, d.down, w.down, x.act,
                             policy(layer) == ActivationPolicy::None, x.up, d.up);
  weight_gradient(d.down, x.act, ids.down);
  linear_backward_input(ctx_, d.up, w.up, d_norm);
  rms_norm_backward(ctx_, d_norm, x.mid, w.mlp_norm, x.mlp_rstd, d.out, adding_slot(ids.mlp_norm),
                    built_again(layer, x.mlp_norm));
  weight_gradient(d.up, x.mlp_norm, ids.up);
}

void Transformer::backward_attention(size_t layer, const LayerWeights& w) {
  const LayerIds& ids = layer_ids_[layer];
  const LayerTensors& x = layers_[layer];
  const LayerGradients& d = gradients_[layer];
  const Tensor d_attn = placed_.find("d.attn");  // (N, H·D)
  const Tensor d_norm = placed_.find("d.norm");  // (N, C)
  const Tensor d_qk = placed_.try_find("d.qk");  // (N, (H+G)·D), QK-norm only
  const int64_t B = shape_.B, T = shape_.T;
  const int64_t H = config_.heads, G = config_.kv_heads, D = config_.head_dim;

  quantize_transposed(ctx_, x.attn);
  weight_gradient(d.out, x.attn, ids.out);
  linear_backward_input(ctx_, d.out, w.out, d_attn);

  const HeadViews heads = layer_.heads(x.qkv, x.qk);
  const HeadViews d_heads = layer_.heads(d.qkv.plain, d_qk);
  attention_rope_backward(ctx_, d_attn.reshape({B, T, H, D}), heads.q, heads.k, heads.v,
                          x.attn.plain.reshape({B, T, H, D}), x.lse, attention_, rope_, d_heads.q,
                          d_heads.k, d_heads.v);
  if (config_.qk_norm) {
    auto norm_backward = [&](int64_t begin, int64_t n, const Tensor& weight, const Tensor& rstd,
                             TensorId id) {
      auto columns = [&](const Tensor& rows) {  // (N, n, D)
        return rows.slice(1, begin * D, (begin + n) * D).split(1, n, D);
      };
      rms_norm_backward(ctx_, columns(d_qk), columns(x.qkv), weight, rstd, columns(d.qkv.plain),
                        false, adding_slot(id));
    };
    norm_backward(0, H, w.q_norm, x.q_rstd, ids.q_norm);
    norm_backward(H, G, w.k_norm, x.k_rstd, ids.k_norm);
  }

  quantize_both(ctx_, d.qkv);
  linear_backward_input(ctx_, d.qkv, w.qkv, d_norm);
  // What is left goes to the product that ends the layer before.
  const Operand& d_residual = layer > 0 ? gradients_[layer - 1].down : Operand(d.down.plain);
  rms_norm_backward(ctx_, d_norm, x.residual, w.attn_norm, x.attn_rstd, d_residual,
                    adding_slot(ids.attn_norm), built_again(layer, x.attn_norm));
  weight_gradient(d.qkv, x.attn_norm, ids.qkv);
}

LayerTensors Transformer::layer_tensors(int64_t layer) const {
  const auto place = offload_place(layer, config_.layers, shape_.offload_layers);
  auto row = [&](std::string_view what) {
    const TensorId found = layer_row(placed_.table(), layer, place, what);
    return found.valid() ? placed_[found] : Tensor{};
  };
  LayerTensors x{row("residual"), row("attn_norm"), row("attn_rstd"), row("qkv"), row("qk"),
                 row("q_rstd"),   row("k_rstd"),    row("attn"),      row("lse"), row("mid"),
                 row("mlp_norm"), row("mlp_rstd"),  row("up"),        row("act")};
  if (shape_.fp8) {
    const int64_t N = shape_.B * shape_.T, C = config_.dim;
    x.attn_norm.fp8 = fp8_input(placed_, layer, Product::Qkv, N, C);
    x.attn.fp8 = fp8_input(placed_, layer, Product::Out, N, config_.heads * config_.head_dim);
    x.mlp_norm.fp8 = fp8_input(placed_, layer, Product::Up, N, C);
    x.act.fp8 = fp8_input(placed_, layer, Product::Down, N, config_.ffn);
  }
  return x;
}

LayerGradients Transformer::layer_gradients(int64_t layer) const {
  const Tensor d_residual = placed_.find("d.residual");  // (N, C)
  LayerGradients d{placed_.find("d.qkv"), d_residual, {}, d_residual};
  if (shape_.fp8) {
    const int64_t N = shape_.B * shape_.T, C = config_.dim;
    d.qkv.fp8 = fp8_gradient(placed_, layer, Product::Qkv, N, config_.qkv_rows());
    d.out.fp8 = fp8_gradient(placed_, layer, Product::Out, N, C);
    d.up.fp8 = fp8_gradient(placed_, layer, Product::Up, N, config_.up_rows());
    d.down.fp8 = fp8_gradient(placed_, layer, Product::Down, N, C);
  } else {
    d.up = layers_[static_cast<size_t>(layer)].up;  // whose values nobody reads any more
  }
  return d;
}

void Transformer::attend(const LayerTensors& x, const HeadViews& heads) {
  const Tensor out = x.attn.plain.reshape({shape_.B, shape_.T, config_.heads, config_.head_dim});
  attention_forward(ctx_, heads.q, heads.k, heads.v, attention_, out, x.lse);
}

LayerWeights Transformer::weights(size_t layer) const {
  const LayerIds& ids = layer_ids_[layer];
  auto get = [&](TensorId id) { return id.valid() ? store_.weight(id) : Tensor{}; };
  auto matrix = [&](TensorId id, Product product) {
    Operand operand = get(id);
    if (shape_.fp8) operand.fp8 = fp8_weight(placed_, static_cast<int64_t>(layer), product);
    return operand;
  };
  return {get(ids.attn_norm),
          matrix(ids.qkv, Product::Qkv),
          get(ids.q_norm),
          get(ids.k_norm),
          matrix(ids.out, Product::Out),
          get(ids.mlp_norm),
          matrix(ids.up, Product::Up),
          matrix(ids.down, Product::Down)};
}

Operand Transformer::head_weight() const {
  Operand w = store_.weight(head_);
  if (shape_.fp8_head)
    w.fp8 = fp8_head_weight(placed_, config_, config_.tied ? "embedding.weight" : "head.weight");
  return w;
}

void Transformer::begin(const BlockUse& use) {
  store_.acquire(use);
  begin_tick(use.tick);
}

void Transformer::begin_loss(Mode mode) {
  for (const BlockUse& use : uses(mode))
    if (use.tick == ticks_.loss()) store_.acquire(use);
  begin_tick(ticks_.loss());
}

void Transformer::end_loss(Mode mode) {
  for (const BlockUse& use : uses(mode))
    if (use.tick == ticks_.loss()) store_.release(use);
}

void Transformer::weight_gradient(const Operand& dy, const Operand& x, TensorId weight) {
  const GradientSlot slot = store_.gradient(weight);
  linear_backward_weight(ctx_, dy, x, slot.tensor, slot.accumulate);
}

Tensor Transformer::adding_slot(TensorId parameter) {
  const GradientSlot slot = store_.gradient(parameter);
  if (slot.accumulate == Accumulate::No) zero(ctx_, slot.tensor);
  return slot.tensor;
}

}  // namespace ingot
