#include "model/mlp_branch.h"

namespace ingot {

void MlpBranch::hidden(Context& ctx, const LayerPass& pass) const {
  const LayerTensors& x = pass.x;
  if (config_.norm_before())
    norm_forward(ctx, x.mid, pass.w.mlp_norm, config_.norm_eps, x.mlp_norm, x.mlp_rstd);
  else
    quantize_rows(ctx, x.mlp_norm);
  linear_activation_forward(ctx, config_.activation, x.mlp_norm, pass.w.up, x.up, x.act);
  if (config_.norm_after()) linear_forward(ctx, x.act, pass.w.down, x.mlp_out);
}

void MlpBranch::hidden_backward(Context& ctx, const LayerPass& pass,
                                const LayerBackwardPass& back) const {
  const LayerTensors& x = pass.x;
  const auto& [d, slots] = back;
  if (config_.norm_before()) {
    linear_backward_input(ctx, d.up, pass.w.up.weight, d.norm);
    norm_backward(ctx, {.dy = d.norm,
                        .x = x.mid,
                        .w = pass.w.mlp_norm,
                        .rstd = x.mlp_rstd,
                        .dx = d.mid,
                        .accumulate = Accumulate::Yes,
                        .slots = slots.mlp_norm,
                        .y = x.drops(x.mlp_norm) ? x.mlp_norm : Operand{}});
  } else {
    linear_backward_input(ctx, d.up, pass.w.up.weight, d.mid.plain, Accumulate::Yes);
    quantize_transposed(ctx, x.mlp_norm);
  }
  linear_gradients(ctx, d.up, x.mlp_norm, slots.up);
}

void MlpBranch::output(Context& ctx, const LayerPass& pass, const Tensor& next) const {
  const LayerTensors& x = pass.x;
  if (!config_.norm_after()) return join_stream(ctx, x.act, pass.w.down, x.mid, next);
  join_normed(ctx, x.mlp_out, pass.w.mlp_post_norm, config_.norm_eps, x.mlp_post_rstd, x.mid, next);
}

void MlpBranch::output_backward(Context& ctx, const LayerPass& pass,
                                const LayerBackwardPass& back) const {
  const LayerTensors& x = pass.x;
  const auto& [d, slots] = back;
  if (config_.norm_after())
    norm_backward(ctx, {.dy = d.mid.plain,
                        .x = x.mlp_out,
                        .w = pass.w.mlp_post_norm,
                        .rstd = x.mlp_post_rstd,
                        .dx = d.down,
                        .accumulate = Accumulate::No,
                        .slots = slots.mlp_post_norm});
  linear_activation_backward(ctx,
                             {.kind = config_.activation,
                              .act_is_kept = x.policy == ActivationPolicy::None,
                              .plain_d_up = config_.mlp_bias},
                             d.down, pass.w.down.weight, x.act, x.up, d.up);
  linear_gradients(ctx, d.down, x.act, slots.down);
}

}  // namespace ingot
