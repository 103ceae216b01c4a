#include "model/attention_branch.h"

#include "ops/fused_linear.h"

namespace ingot {

Tensor AttentionBranch::columns(const Tensor& rows, int64_t begin, int64_t n) const {
  const int64_t D = config_.head_dim;
  return rows.slice(1, begin * D, (begin + n) * D).split(1, n, D);
}

Tensor AttentionBranch::normed_span(const Tensor& rows, int64_t begin, int64_t n) const {
  if (config_.qk_norm_span == QkNormSpan::Head) return columns(rows, begin, n);
  return rows.slice(1, begin * config_.head_dim, (begin + n) * config_.head_dim);
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
  if (config_.norm_before())
    norm_forward(ctx, x.residual, w.attn_norm, config_.norm_eps, x.attn_norm, x.attn_rstd);
  else
    quantize_rows(ctx, x.attn_norm);
  const HeadViews heads = this->heads(x.qkv, x.qk);
  const bool rotary = rope.cos.defined();
  const bool plain_forms = !x.attn_norm.fp8.defined() && !w.qkv.weight.is_packed();
  if (rotary && !config_.qk_norm && plain_forms && !w.qkv.bias.plain.defined()) {
    linear_rope_forward(ctx, x.attn_norm.plain, w.qkv.weight.plain, x.qkv, heads.qk, rope);
    return heads;
  }
  linear_forward(ctx, x.attn_norm, w.qkv, x.qkv);
  if (config_.qk_norm) {
    const int64_t H = config_.heads, G = config_.kv_heads;
    norm_forward(ctx, normed_span(x.qkv, 0, H), w.q_norm, config_.norm_eps, normed_span(x.qk, 0, H),
                 x.q_rstd);
    norm_forward(ctx, normed_span(x.qkv, H, G), w.k_norm, config_.norm_eps, normed_span(x.qk, H, G),
                 x.k_rstd);
  }
  if (rotary) rope_forward(ctx, heads.qk, rope);
  return heads;
}

void AttentionBranch::project_qkv_backward(Context& ctx, const LayerPass& pass,
                                           const LayerBackwardPass& back) const {
  const auto& [w, x, rope, attention] = pass;
  const auto& [d, slots] = back;
  quantize_both(ctx, d.qkv);
  if (config_.norm_before()) {
    linear_backward_input(ctx, d.qkv, w.qkv.weight, d.norm);
    norm_backward(ctx, {.dy = d.norm,
                        .x = x.residual,
                        .w = w.attn_norm,
                        .rstd = x.attn_rstd,
                        .dx = d.residual,
                        .accumulate = Accumulate::Yes,
                        .slots = slots.attn_norm,
                        .y = x.drops(x.attn_norm) ? x.attn_norm : Operand{}});
  } else {
    linear_backward_input(ctx, d.qkv, w.qkv.weight, d.residual.plain, Accumulate::Yes);
    quantize_transposed(ctx, x.attn_norm);
  }
  linear_gradients(ctx, d.qkv, x.attn_norm, slots.qkv);
}

void AttentionBranch::attend(Context& ctx, const LayerPass& pass, const HeadViews& heads) const {
  const Tensor out = columns(pass.x.attn.plain, 0, config_.heads).split(0, B_, T_);  // (B, T, H, D)
  attention_forward(ctx, {.q = heads.q, .k = heads.k, .v = heads.v, .out = out, .lse = pass.x.lse},
                    pass.attention);
}

void AttentionBranch::attend_backward(Context& ctx, const LayerPass& pass,
                                      const LayerBackwardPass& back) const {
  const auto& [w, x, rope, attention] = pass;
  const auto& [d, slots] = back;
  const int64_t H = config_.heads, G = config_.kv_heads;
  const HeadViews heads = this->heads(x.qkv, x.qk), d_heads = this->heads(d.qkv.plain, d.qk);
  const auto whole = [&](const Tensor& rows) {  // (B, T, H, D)
    return columns(rows, 0, H).split(0, B_, T_);
  };
  const AttentionTensors tensors{
      .q = heads.q, .k = heads.k, .v = heads.v, .out = whole(x.attn.plain), .lse = x.lse};
  const AttentionGradients gradients{
      .dout = whole(d.attn), .dq = d_heads.q, .dk = d_heads.k, .dv = d_heads.v};
  if (rope.cos.defined())
    attention_rope_backward(ctx, tensors, gradients, attention, rope);
  else
    attention_backward(ctx, tensors, gradients, attention);
  if (!config_.qk_norm) return;
  norm_backward(ctx, {.dy = normed_span(d.qk, 0, H),
                      .x = normed_span(x.qkv, 0, H),
                      .w = w.q_norm,
                      .rstd = x.q_rstd,
                      .dx = normed_span(d.qkv.plain, 0, H),
                      .accumulate = Accumulate::No,
                      .slots = slots.q_norm});
  norm_backward(ctx, {.dy = normed_span(d.qk, H, G),
                      .x = normed_span(x.qkv, H, G),
                      .w = w.k_norm,
                      .rstd = x.k_rstd,
                      .dx = normed_span(d.qkv.plain, H, G),
                      .accumulate = Accumulate::No,
                      .slots = slots.k_norm});
}

void AttentionBranch::output(Context& ctx, const LayerPass& pass) const {
  const auto& [w, x, rope, attention] = pass;
  quantize_rows(ctx, x.attn);
  if (!config_.norm_after()) return join_stream(ctx, x.attn, w.out, x.residual, x.mid);
  linear_forward(ctx, x.attn, w.out, x.attn_out);
  join_normed(ctx, x.attn_out, w.attn_post_norm, config_.norm_eps, x.attn_post_rstd, x.residual,
              x.mid);
}

void AttentionBranch::output_backward(Context& ctx, const LayerPass& pass,
                                      const LayerBackwardPass& back) const {
  const auto& [w, x, rope, attention] = pass;
  const auto& [d, slots] = back;
  if (config_.norm_after())
    norm_backward(ctx, {.dy = d.mid.plain,
                        .x = x.attn_out,
                        .w = w.attn_post_norm,
                        .rstd = x.attn_post_rstd,
                        .dx = d.out,
                        .accumulate = Accumulate::No,
                        .slots = slots.attn_post_norm});
  quantize_transposed(ctx, x.attn);
  linear_gradients(ctx, d.out, x.attn, slots.out);
  linear_backward_input(ctx, d.out, w.out.weight, d.attn);
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
