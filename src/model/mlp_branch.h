// The MLP half of a layer: norm, up projection, activation, down projection. Each piece stands
// beside the way back through it.
#pragma once

#include "model/branch.h"
#include "spec/model/model_config.h"

namespace ingot {

class MlpBranch {
 public:
  explicit MlpBranch(const ModelConfig& config) : config_(config) {}

  // mid → mlp_norm → up → act, and where a norm follows the branch → mlp_out.
  void hidden(Context& ctx, const LayerPass& pass) const;
  // d.up → d.mid, which it is added to.
  void hidden_backward(Context& ctx, const LayerPass& pass, const LayerBackwardPass& back) const;

  // act, or mlp_out, and mid → `next`(N, C), the stream that leaves the layer.
  void output(Context& ctx, const LayerPass& pass, const Tensor& next) const;
  // d.mid → d.down → d.up, back through the activation as well, since one kernel does both.
  void output_backward(Context& ctx, const LayerPass& pass, const LayerBackwardPass& back) const;

 private:
  const ModelConfig& config_;
};

}  // namespace ingot
