#include "model/mlp_branch.h"

#include "ops/rms_norm.h"

namespace ingot {

void MlpBranch::hidden(Context& ctx, const LayerPass& pass) const {
  const LayerTensors& x = pass.x;
  rms_norm_forward(ctx, x.mid, pass.w.mlp_norm, config_.norm_eps, x.mlp_norm, x.mlp_rstd);
  linear_activation_forward(ctx, config_.activation, x.mlp_norm, pass.w.up, x.up, x.act);
}

void MlpBranch::hidden_backward(Context& ctx, const LayerPass& pass,
                                const LayerBackwardPass& back) const {
  const LayerTensors& x = pass.x;
  const auto& [d, slots] = back;
  linear_backward_input(ctx, d.up, pass.w.up, d.norm);
  rms_norm_backward(ctx, d.norm, x.mid, pass.w.mlp_norm, x.mlp_rstd, d.out,
                    adding_slot(ctx, slots.mlp_norm), x.drops(x.mlp_norm) ? x.mlp_norm : Operand{});
  weight_gradient(ctx, d.up, x.mlp_norm, slots.up);
}

void MlpBranch::output(Context& ctx, const LayerPass& pass, const Tensor& next) const {
  join_stream(ctx, pass.x.act, pass.w.down, pass.x.mid, next);
}

void MlpBranch::output_backward(Context& ctx, const LayerPass& pass,
                                const LayerBackwardPass& back) const {
  const LayerTensors& x = pass.x;
  const auto& [d, slots] = back;
  linear_activation_backward(ctx, config_.activation, d.down, pass.w.down, x.act,
                             x.policy == ActivationPolicy::None, x.up, d.up);
  weight_gradient(ctx, d.down, x.act, slots.down);
}

}  // namespace ingot
