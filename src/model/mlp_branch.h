// The MLP half of a layer: norm, up projection, activation, down projection. Each function stands
// beside its backward pass.
#pragma once

#include "model/branch.h"
#include "spec/model/model_config.h"

namespace ingot {

class MlpBranch {
 public:
  explicit MlpBranch(const ModelConfig& config) : config_(config) {}

  // mid → mlp_norm → up → act, and if a norm follows the branch → mlp_out.
  void hidden(Context& ctx, const LayerPass& pass) const;
  // d.up → d.mid, accumulated.
  void hidden_backward(Context& ctx, const LayerPass& pass, const LayerBackwardPass& back) const;

  // act, or mlp_out, and mid → `next`(N, C), the residual stream after the layer.
  void output(Context& ctx, const LayerPass& pass, const Tensor& next) const;
  // d.mid → d.down → d.up, including the backward pass of the activation: one kernel does both.
  void output_backward(Context& ctx, const LayerPass& pass, const LayerBackwardPass& back) const;

 private:
  const ModelConfig& config_;
};

}  // namespace ingot
