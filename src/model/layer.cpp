#include "model/layer.h"

#include "core/error/error.h"

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

RopeInput rope_input(const ModelConfig& config, const PlacedTensors& placed) {
  RopeInput input;
  input.cos = placed.try_find("rope.cos");
  input.sin = placed.try_find("rope.sin");
  input.pairs =
      config.rope.style == RopeStyle::HalfSplit ? RopePairs::HalfSplit : RopePairs::Interleaved;
  return input;
}

AttentionOptions attention_options(const ModelConfig& config) {
  AttentionOptions options;
  options.scale = config.attn_scale;
  options.softcap = config.attn_softcap;
  options.window = config.window;
  return options;
}

namespace {

RopeStretch stretch_of(RopeScaling scaling) {
  switch (scaling) {
    case RopeScaling::None:
      return RopeStretch::None;
    case RopeScaling::Linear:
      return RopeStretch::Linear;
    case RopeScaling::Dynamic:
      return RopeStretch::Dynamic;
    case RopeScaling::Yarn:
      return RopeStretch::Yarn;
    case RopeScaling::Llama3:
      return RopeStretch::Llama3;
  }
  throw Error(ErrorCode::Internal, "unknown rotary scaling");
}

}  // namespace

RopeFrequencies rope_frequencies(const RopeConfig& config) {
  return {.theta = config.theta,
          .stretch = stretch_of(config.scaling),
          .factor = config.factor,
          .low_freq_factor = config.low_freq_factor,
          .high_freq_factor = config.high_freq_factor,
          .beta_slow = config.beta_slow,
          .beta_fast = config.beta_fast,
          .attention_factor = config.attention_factor,
          .original_context = config.original_context};
}

}  // namespace ingot
