#include "model/layer.h"

namespace ingot {

void Layer::forward(Context& ctx, const LayerPass& pass) const {
  attention_.forward(ctx, pass);
  mlp_.hidden(ctx, pass);
}

void Layer::leave(Context& ctx, const LayerPass& pass, const Tensor& next) const {
  mlp_.output(ctx, pass, next);
}

void Layer::rebuild(Context& ctx, const LayerPass& pass) const {
  if (pass.x.policy == ActivationPolicy::Full) forward(ctx, pass);
}

void Layer::backward(Context& ctx, const LayerPass& pass, const LayerBackwardPass& back) const {
  mlp_.output_backward(ctx, pass, back);
  mlp_.hidden_backward(ctx, pass, back);
  attention_.backward(ctx, pass, back);
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
