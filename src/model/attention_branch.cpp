#include "model/attention_branch.h"

#include "ops/fused_linear.h"
#include "ops/rms_norm.h"

namespace ingot {

Tensor AttentionBranch::columns(const Tensor& rows, int64_t begin, int64_t n) const {
  const int64_t D = config_.head_dim;
  return rows.slice(1, begin * D, (begin + n) * D).split(1, n, D);
}

HeadViews AttentionBranch::heads(const Tensor& qkv, const Tensor& qk) const {
  const int64_t H = config_.heads, G = config_.kv_heads;
  const Tensor& packed = qk.defined() ? qk : qkv;
  const auto view = [&](const Tensor& rows, int64_t begin, int64_t n) {  // (B, T, n, D)
    return columns(rows, begin, n).split(0, B_, T_);
  };
  return {.q = view(packed, 0, H),
          .k = view(packed, H, G),
          .v = view(qkv, H + G, G),
          .qk = view(packed, 0, H + G)};
}

HeadViews AttentionBranch::project_qkv(Context& ctx, const LayerPass& pass) const {
  const auto& [w, x, rope, attention] = pass;
  rms_norm_forward(ctx, x.residual, w.attn_norm, config_.norm_eps, x.attn_norm, x.attn_rstd);
  const HeadViews heads = this->heads(x.qkv, x.qk);
  if (!config_.qk_norm && !x.attn_norm.fp8.defined()) {
    linear_rope_forward(ctx, x.attn_norm.plain, w.qkv.plain, x.qkv, heads.qk, rope);
    return heads;
  }
  linear_forward(ctx, x.attn_norm, w.qkv, x.qkv);
  if (config_.qk_norm) {
    const int64_t H = config_.heads, G = config_.kv_heads;
    rms_norm_forward(ctx, columns(x.qkv, 0, H), w.q_norm, config_.norm_eps, columns(x.qk, 0, H),
                     x.q_rstd);
    rms_norm_forward(ctx, columns(x.qkv, H, G), w.k_norm, config_.norm_eps, columns(x.qk, H, G),
                     x.k_rstd);
  }
  rope_forward(ctx, heads.qk, rope);
  return heads;
}

void AttentionBranch::project_qkv_backward(Context& ctx, const LayerPass& pass,
                                           const LayerBackwardPass& back) const {
  const LayerTensors& x = pass.x;
  const auto& [d, slots] = back;
  quantize_both(ctx, d.qkv);
  linear_backward_input(ctx, d.qkv, pass.w.qkv, d.norm);
  rms_norm_backward(ctx, d.norm, x.residual, pass.w.attn_norm, x.attn_rstd, d.residual,
                    adding_slot(ctx, slots.attn_norm),
                    x.drops(x.attn_norm) ? x.attn_norm : Operand{});
  weight_gradient(ctx, d.qkv, x.attn_norm, slots.qkv);
}

void AttentionBranch::attend(Context& ctx, const LayerPass& pass, const HeadViews& heads) const {
  const Tensor out = columns(pass.x.attn.plain, 0, config_.heads).split(0, B_, T_);  // (B, T, H, D)
  attention_forward(ctx, {.q = heads.q, .k = heads.k, .v = heads.v, .out = out, .lse = pass.x.lse},
                    pass.attention);
}

void AttentionBranch::attend_backward(Context& ctx, const LayerPass& pass,
                                      const LayerBackwardPass& back) const {
  const LayerTensors& x = pass.x;
  const auto& [d, slots] = back;
  const int64_t H = config_.heads, G = config_.kv_heads;
  const HeadViews heads = this->heads(x.qkv, x.qk), d_heads = this->heads(d.qkv.plain, d.qk);
  const auto whole = [&](const Tensor& rows) {  // (B, T, H, D)
    return columns(rows, 0, H).split(0, B_, T_);
  };
  attention_rope_backward(
      ctx, {.q = heads.q, .k = heads.k, .v = heads.v, .out = whole(x.attn.plain), .lse = x.lse},
      {.dout = whole(d.attn), .dq = d_heads.q, .dk = d_heads.k, .dv = d_heads.v}, pass.attention,
      pass.rope);
  if (!config_.qk_norm) return;
  rms_norm_backward(ctx, columns(d.qk, 0, H), columns(x.qkv, 0, H), pass.w.q_norm, x.q_rstd,
                    columns(d.qkv.plain, 0, H), false, adding_slot(ctx, slots.q_norm));
  rms_norm_backward(ctx, columns(d.qk, H, G), columns(x.qkv, H, G), pass.w.k_norm, x.k_rstd,
                    columns(d.qkv.plain, H, G), false, adding_slot(ctx, slots.k_norm));
}

void AttentionBranch::output(Context& ctx, const LayerPass& pass) const {
  const LayerTensors& x = pass.x;
  quantize_rows(ctx, x.attn);
  join_stream(ctx, x.attn, pass.w.out, x.residual, x.mid);
}

void AttentionBranch::output_backward(Context& ctx, const LayerPass& pass,
                                      const LayerBackwardPass& back) const {
  const auto& [d, slots] = back;
  quantize_transposed(ctx, pass.x.attn);
  weight_gradient(ctx, d.out, pass.x.attn, slots.out);
  linear_backward_input(ctx, d.out, pass.w.out, d.attn);
}

void AttentionBranch::forward(Context& ctx, const LayerPass& pass) const {
  attend(ctx, pass, project_qkv(ctx, pass));
  output(ctx, pass);
}

void AttentionBranch::backward(Context& ctx, const LayerPass& pass,
                               const LayerBackwardPass& back) const {
  output_backward(ctx, pass, back);
  attend_backward(ctx, pass, back);
  project_qkv_backward(ctx, pass, back);
}

}  // namespace ingot
