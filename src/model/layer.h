// One transformer layer: two branches that add to the residual stream. Training, recomputation and
// decoding all use these functions.
#pragma once

#include <cstdint>

#include "core/device/context.h"
#include "model/attention_branch.h"
#include "model/mlp_branch.h"
#include "spec/model/model_config.h"

namespace ingot {

class Layer {
 public:
  // For B sequences of T tokens. `config` must outlive it.
  Layer(const ModelConfig& config, int64_t B, int64_t T) : attention_(config, B, T), mlp_(config) {}

  // residual → … → act, and if a norm follows the branch → mlp_out: all but the layer's output.
  void forward(Context& ctx, const LayerPass& pass) const;
  // The output: act, or mlp_out, and mid → `next`(N, C), the next layer's residual. A separate
  // function, since the memory of `next` may have to be waited for.
  void leave(Context& ctx, const LayerPass& pass, const Tensor& next) const;

  // Call it before backward(): recomputes what the policy did not keep and no backward op rebuilds.
  // It runs the same ops on the same inputs, so gradients are equal bit for bit under every policy.
  void rebuild(Context& ctx, const LayerPass& pass) const;
  // The residual stream's gradient → d.residual, and the gradients of all parameters.
  void backward(Context& ctx, const LayerPass& pass, const LayerBackwardPass& back) const;

  const AttentionBranch& attention() const { return attention_; }
  const MlpBranch& mlp() const { return mlp_; }

 private:
  AttentionBranch attention_;
  MlpBranch mlp_;
};

// rope.cos and rope.sin of `placed`; no tables if positions are learned.
RopeInput rope_input(const ModelConfig& config, const PlacedTensors& placed);
// Options without documents.
AttentionOptions attention_options(const ModelConfig& config);
RopeFrequencies rope_frequencies(const RopeConfig& config);

}  // namespace ingot
