#include "model/transformer.h"

#include <algorithm>

#include "core/error.h"
#include "ops/embedding.h"
#include "ops/memory.h"
#include "ops/reduce.h"
#include "ops/rms_norm.h"

namespace ingot {

Transformer::Transformer(Context& ctx, const ModelConfig& config, const TrainShape& shape,
                         double z_loss, const PlacedTensors& placed, ParameterStore& store)
    : ctx_(ctx),
      config_(config),
      shape_(shape),
      z_loss_(z_loss),
      placed_(placed),
      store_(store),
      layer_(config_, shape.B, shape.T) {
  const TensorTable parameters = llama_parameters(config);
  embedding_ = parameters.find("embedding.weight");
  final_norm_ = parameters.find("final_norm.weight");
  head_ = config.tied ? embedding_ : parameters.find("head.weight");

  for (int64_t i = 0; i < config.layers; ++i) {
    auto id = [&](std::string_view what) { return parameters.try_find(layer_name(i, what)); };
    layer_ids_.push_back({id("attn_norm.weight"), id("qkv.weight"), id("q_norm.weight"),
                          id("k_norm.weight"), id("out.weight"), id("mlp_norm.weight"),
                          id("up.weight"), id("down.weight")});
    auto row = [&](std::string_view what) {
      const TensorId found = layer_row(placed.table(), i, what);
      return found.valid() ? placed[found] : Tensor{};
    };
    layers_.push_back({row("residual"), row("attn_norm"), row("attn_rstd"), row("qkv"), row("qk"),
                       row("q_rstd"), row("k_rstd"), row("attn"), row("lse"), row("mid"),
                       row("mlp_norm"), row("mlp_rstd"), row("up"), row("act")});
  }

  rope_ = rope_input(config, placed.find("rope.cos"), placed.find("rope.sin"));
  rope_.positions = placed.try_find("positions");
  rope_table(ctx_, rope_frequencies(config.rope), rope_.cos, rope_.sin);
  attention_.window = config.window;
  attention_.document_start = placed.try_find("document_start");
  if (rope_.positions.defined()) positions_.resize(static_cast<size_t>(shape.B * shape.T));
}

StepLoss Transformer::train_micro_step(const MicroBatch& batch, double scale) {
  load(batch);
  forward();
  acquire_head();
  const GradientSlot dhead = store_.gradient(head_);
  const LossOptions options{kNoTarget, z_loss_, config_.softcap, shape_.loss_chunk};
  lm_head_loss_backward(ctx_, placed_.find("final_norm"), store_.weight(head_),
                        placed_.find("targets"), options, scale, placed_.find("losses"),
                        placed_.find("final_norm"), dhead.tensor, dhead.accumulate);
  backward();
  return collect_loss(batch);
}

StepLoss Transformer::evaluate(const MicroBatch& batch) {
  load(batch);
  forward();
  acquire_head();
  const LossOptions options{kNoTarget, 0.0, config_.softcap, shape_.loss_chunk};
  lm_head_loss_forward(ctx_, placed_.find("final_norm"), store_.weight(head_),
                       placed_.find("targets"), options, placed_.find("losses"));
  release_head();
  return collect_loss(batch);
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
  for (size_t i = 0; i < positions_.size(); ++i)
    positions_[i] =
        static_cast<int32_t>(static_cast<int64_t>(i) % shape_.T) - batch.document_start[i];
  copy_from_host(ctx_, positions_.data(), rope_.positions);
}

void Transformer::forward() {
  const Tensor branch = placed_.find("branch");  // (N, C) what a half layer adds to the stream
  store_.acquire(0);
  embedding_forward(ctx_, placed_.find("tokens"), store_.weight(embedding_), layers_[0].residual);
  store_.release(0);

  for (size_t i = 0; i < layers_.size(); ++i) {
    const int block = static_cast<int>(i) + 1;
    store_.acquire(block);
    const LayerWeights w = weights(layer_ids_[i]);
    const LayerTensors& x = layers_[i];
    if (i == 0)
      layer_.norm_input(ctx_, w, x);
    else
      layer_.add_and_norm_input(ctx_, w, layers_[i - 1].mid, branch, x);
    attend(x, layer_.project_qkv(ctx_, w, rope_, x));
    layer_.attention_output(ctx_, w, x, branch);
    layer_.mlp_hidden(ctx_, w, x);
    linear_forward(ctx_, x.act, w.down, branch);
    store_.release(block);
  }

  const int block = head_block(config_);
  store_.acquire(block);
  add_rms_norm_forward(ctx_, layers_.back().mid, branch, store_.weight(final_norm_),
                       config_.norm_eps, placed_.find("final_residual"), placed_.find("final_norm"),
                       placed_.find("final_rstd"));
  store_.release(block);
}

void Transformer::backward() {
  const Tensor d_residual = placed_.find("d.residual");  // (N, C) gradient of the stream
  rms_norm_backward(ctx_, placed_.find("final_norm"), placed_.find("final_residual"),
                    store_.weight(final_norm_), placed_.find("final_rstd"), d_residual, false,
                    adding_slot(final_norm_));
  if (config_.tied) store_.release_gradients(0);
  store_.release_gradients(head_block(config_));
  release_head();

  for (int64_t i = config_.layers - 1; i >= 0; --i) {
    const int block = static_cast<int>(i) + 1;
    const LayerIds& ids = layer_ids_[static_cast<size_t>(i)];
    const LayerTensors& x = layers_[static_cast<size_t>(i)];
    store_.acquire(block);
    const LayerWeights w = weights(ids);
    recompute(i, w);
    backward_mlp(ids, w, x);
    backward_attention(ids, w, x);
    store_.release_gradients(block);
    store_.release(block);
  }
  embedding_backward(ctx_, placed_.find("tokens"), d_residual, adding_slot(embedding_));
  store_.release_gradients(0);
}

// Rebuilds what the policy did not keep, by the same ops on the same inputs, so gradients are equal
// bit for bit under every policy.
void Transformer::recompute(int64_t layer, const LayerWeights& w) {
  const LayerTensors& x = layers_[static_cast<size_t>(layer)];
  switch (shape_.policy) {
    case ActivationPolicy::None:
      return;
    case ActivationPolicy::Selective:
      layer_.norm_input(ctx_, w, x);
      rms_norm_forward(ctx_, x.mid, w.mlp_norm, config_.norm_eps, x.mlp_norm, x.mlp_rstd);
      return;
    case ActivationPolicy::Full:
      layer_.norm_input(ctx_, w, x);
      attend(x, layer_.project_qkv(ctx_, w, rope_, x));
      layer_.attention_output(ctx_, w, x, placed_.find("branch"));
      linear_forward(ctx_, x.mlp_norm, w.up, x.up);
      return;
  }
}

void Transformer::backward_mlp(const LayerIds& ids, const LayerWeights& w, const LayerTensors& x) {
  const Tensor d_residual = placed_.find("d.residual");  // (N, C)
  // Gradients take the place of values that nobody reads any more; act is built again on the way.
  const Tensor &d_act = x.act, &d_up = x.up, &d_norm = x.mlp_norm;

  linear_backward_input(ctx_, d_residual, w.down, d_act, Accumulate::No);
  layer_.activation_backward(ctx_, x);
  linear_gradient(d_residual, x.act, ids.down);
  linear_gradient(d_up, x.mlp_norm, ids.up);
  linear_backward_input(ctx_, d_up, w.up, d_norm, Accumulate::No);
  rms_norm_backward(ctx_, d_norm, x.mid, w.mlp_norm, x.mlp_rstd, d_residual, true,
                    adding_slot(ids.mlp_norm));
}

void Transformer::backward_attention(const LayerIds& ids, const LayerWeights& w,
                                     const LayerTensors& x) {
  const Tensor d_residual = placed_.find("d.residual");  // (N, C)
  const Tensor d_attn = placed_.find("d.attn");          // (N, H·D)
  const Tensor d_qkv = placed_.find("d.qkv");            // (N, qkv_rows)
  const Tensor d_qk = placed_.try_find("d.qk");          // (N, (H+G)·D), QK-norm only
  const Tensor& d_norm = x.attn_norm;                    // (N, C) in place of the norm's output
  const int64_t B = shape_.B, T = shape_.T;
  const int64_t H = config_.heads, G = config_.kv_heads, D = config_.head_dim;

  linear_gradient(d_residual, x.attn, ids.out);
  linear_backward_input(ctx_, d_residual, w.out, d_attn, Accumulate::No);

  const HeadViews heads = layer_.heads(x.qkv, x.qk);
  const HeadViews d_heads = layer_.heads(d_qkv, d_qk);
  attention_backward(ctx_, d_attn.reshape({B, T, H, D}), heads.q, heads.k, heads.v,
                     x.attn.reshape({B, T, H, D}), x.lse, attention_, d_heads.q, d_heads.k,
                     d_heads.v);
  rope_backward(ctx_, d_heads.qk, rope_.cos, rope_.sin, rope_.pairs, rope_.positions);
  if (config_.qk_norm) {
    auto norm_backward = [&](int64_t begin, int64_t n, const Tensor& weight, const Tensor& rstd,
                             TensorId id) {
      auto columns = [&](const Tensor& rows) {  // (N, n, D)
        return rows.slice(1, begin * D, (begin + n) * D).split(1, n, D);
      };
      rms_norm_backward(ctx_, columns(d_qk), columns(x.qkv), weight, rstd, columns(d_qkv), false,
                        adding_slot(id));
    };
    norm_backward(0, H, w.q_norm, x.q_rstd, ids.q_norm);
    norm_backward(H, G, w.k_norm, x.k_rstd, ids.k_norm);
  }

  linear_gradient(d_qkv, x.attn_norm, ids.qkv);
  linear_backward_input(ctx_, d_qkv, w.qkv, d_norm, Accumulate::No);
  rms_norm_backward(ctx_, d_norm, x.residual, w.attn_norm, x.attn_rstd, d_residual, true,
                    adding_slot(ids.attn_norm));
}

void Transformer::attend(const LayerTensors& x, const HeadViews& heads) {
  const Tensor out = x.attn.reshape({shape_.B, shape_.T, config_.heads, config_.head_dim});
  attention_forward(ctx_, heads.q, heads.k, heads.v, attention_, out, x.lse);
}

LayerWeights Transformer::weights(const LayerIds& ids) const {
  auto get = [&](TensorId id) { return id.valid() ? store_.weight(id) : Tensor{}; };
  return {get(ids.attn_norm), get(ids.qkv),      get(ids.q_norm), get(ids.k_norm),
          get(ids.out),       get(ids.mlp_norm), get(ids.up),     get(ids.down)};
}

void Transformer::acquire_head() {
  if (config_.tied) store_.acquire(0);
  store_.acquire(head_block(config_));
}

void Transformer::release_head() {
  store_.release(head_block(config_));
  if (config_.tied) store_.release(0);
}

StepLoss Transformer::collect_loss(const MicroBatch& batch) {
  StepLoss loss;
  loss.sum = sum(ctx_, placed_.find("losses"));
  const int64_t N = shape_.B * shape_.T;
  loss.num_targets = N - std::count(batch.targets, batch.targets + N, kNoTarget);
  return loss;
}

void Transformer::linear_gradient(const Tensor& dy, const Tensor& x, TensorId weight) {
  const GradientSlot slot = store_.gradient(weight);
  linear_backward_weight(ctx_, dy, x, slot.tensor, slot.accumulate);
}

Tensor Transformer::adding_slot(TensorId parameter) {
  const GradientSlot slot = store_.gradient(parameter);
  if (slot.accumulate == Accumulate::No) zero(ctx_, slot.tensor);
  return slot.tensor;
}

}  // namespace ingot
