#include "model/layer.h"

#include "ops/fused_linear.h"
#include "ops/rms_norm.h"

namespace ingot {

HeadViews Layer::heads(const Tensor& qkv, const Tensor& qk) const {
  const int64_t H = config_.heads, G = config_.kv_heads, D = config_.head_dim;
  const Tensor& packed = qk.defined() ? qk : qkv;
  // Columns [begin, begin + n) heads of (N, ·) rows as (B, T, n, D).
  auto view = [&](const Tensor& rows, int64_t begin, int64_t n) {
    return rows.slice(1, begin * D, (begin + n) * D).split(1, n, D).split(0, B_, T_);
  };
  return {view(packed, 0, H), view(packed, H, G), view(qkv, H + G, G), view(packed, 0, H + G)};
}

void Layer::norm_input(Context& ctx, const LayerWeights& w, const LayerTensors& x) const {
  rms_norm_forward(ctx, x.residual, w.attn_norm, config_.norm_eps, x.attn_norm, x.attn_rstd);
}

HeadViews Layer::project_qkv(Context& ctx, const LayerWeights& w, const RopeInput& rope,
                             const LayerTensors& x) const {
  const HeadViews heads = this->heads(x.qkv, x.qk);
  if (!config_.qk_norm && !x.attn_norm.fp8.defined()) {
    linear_rope_forward(ctx, x.attn_norm.plain, w.qkv.plain, x.qkv, heads.qk, rope);
    return heads;
  }
  linear_forward(ctx, x.attn_norm, w.qkv, x.qkv);
  if (config_.qk_norm) {
    const int64_t H = config_.heads, G = config_.kv_heads, D = config_.head_dim;
    auto norm = [&](int64_t begin, int64_t n, const Tensor& weight, const Tensor& rstd) {
      const Tensor raw = x.qkv.slice(1, begin * D, (begin + n) * D).split(1, n, D);    // (N, n, D)
      const Tensor normed = x.qk.slice(1, begin * D, (begin + n) * D).split(1, n, D);  // (N, n, D)
      rms_norm_forward(ctx, raw, weight, config_.norm_eps, normed, rstd);
    };
    norm(0, H, w.q_norm, x.q_rstd);
    norm(H, G, w.k_norm, x.k_rstd);
  }
  rope_forward(ctx, heads.qk, rope);
  return heads;
}

void Layer::attention_output(Context& ctx, const LayerWeights& w, const LayerTensors& x) const {
  quantize_rows(ctx, x.attn);
  linear_forward(ctx, x.attn, w.out, x.mid, x.residual);
  rms_norm_forward(ctx, x.mid, w.mlp_norm, config_.norm_eps, x.mlp_norm, x.mlp_rstd);
}

void Layer::mlp_hidden(Context& ctx, const LayerWeights& w, const LayerTensors& x) const {
  linear_activation_forward(ctx, config_.activation, x.mlp_norm, w.up, x.up, x.act);
}

void Layer::mlp_output(Context& ctx, const LayerWeights& w, const LayerTensors& x,
                       const Tensor& next) const {
  linear_forward(ctx, x.act, w.down, next, x.mid);
}

RopeInput rope_input(const ModelConfig& config, const Tensor& cos, const Tensor& sin) {
  RopeInput input;
  input.cos = cos;
  input.sin = sin;
  input.pairs =
      config.rope.style == RopeStyle::HalfSplit ? RopePairs::HalfSplit : RopePairs::Interleaved;
  return input;
}

RopeFrequencies rope_frequencies(const RopeConfig& config) {
  RopeFrequencies f;
  f.theta = config.theta;
  if (config.scaling == RopeScaling::Llama3) {
    f.factor = config.factor;
    f.low_freq_factor = config.low_freq_factor;
    f.high_freq_factor = config.high_freq_factor;
    f.original_context = config.original_context;
  }
  return f;
}

}  // namespace ingot
