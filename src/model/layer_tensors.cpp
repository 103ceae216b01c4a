#include "model/layer_tensors.h"

namespace ingot {

LayerParameters::LayerParameters(const TensorTable& parameters, const PlacedTensors& placed,
                                 int64_t layer, bool fp8) {
  const auto id = [&](std::string_view what) {
    return parameters.try_find(layer_name(layer, what));
  };
  attn_norm_ = id("attn_norm.weight");
  qkv_ = id("qkv.weight");
  q_norm_ = id("q_norm.weight");
  k_norm_ = id("k_norm.weight");
  out_ = id("out.weight");
  mlp_norm_ = id("mlp_norm.weight");
  up_ = id("up.weight");
  down_ = id("down.weight");
  if (!fp8) return;
  for (const Product product : {Product::Qkv, Product::Out, Product::Up, Product::Down})
    fp8_[static_cast<size_t>(product)] = fp8_weight(placed, layer, product);
}

LayerWeights LayerParameters::weights(const ParameterStore& store) const {
  const auto get = [&](TensorId id) { return id.valid() ? store.weight(id) : Tensor{}; };
  const auto matrix = [&](TensorId id, Product product) {
    Operand operand = store.weight(id);
    operand.fp8 = fp8_[static_cast<size_t>(product)];
    return operand;
  };
  return {.attn_norm = get(attn_norm_),
          .qkv = matrix(qkv_, Product::Qkv),
          .q_norm = get(q_norm_),
          .k_norm = get(k_norm_),
          .out = matrix(out_, Product::Out),
          .mlp_norm = get(mlp_norm_),
          .up = matrix(up_, Product::Up),
          .down = matrix(down_, Product::Down)};
}

LayerSlots LayerParameters::slots(ParameterStore& store) const {
  const auto get = [&](TensorId id) { return id.valid() ? store.gradient(id) : GradientSlot{}; };
  return {.attn_norm = get(attn_norm_),
          .qkv = get(qkv_),
          .q_norm = get(q_norm_),
          .k_norm = get(k_norm_),
          .out = get(out_),
          .mlp_norm = get(mlp_norm_),
          .up = get(up_),
          .down = get(down_)};
}

LayerTensors layer_tensors(const PlacedTensors& placed, const ModelConfig& config,
                           const TrainShape& shape, int64_t layer, int64_t slot) {
  const auto place = offload_place(layer, config.layers, shape.offload_layers);
  const auto row = [&](std::string_view what) {
    const TensorId found = layer_row(placed.table(), layer, place, what, slot);
    return found.valid() ? placed[found] : Tensor{};
  };
  LayerTensors x = tensors_of(row);
  x.policy = policy_of(shape, layer, config.layers);
  if (shape.fp8) {
    const int64_t N = shape.B * shape.T, C = config.dim;
    x.attn_norm.fp8 = fp8_input(placed, layer, Product::Qkv, N, C);
    x.attn.fp8 = fp8_input(placed, layer, Product::Out, N, config.heads * config.head_dim);
    x.mlp_norm.fp8 = fp8_input(placed, layer, Product::Up, N, C);
    x.act.fp8 = fp8_input(placed, layer, Product::Down, N, config.ffn);
  }
  return x;
}

LayerTensors without_maxima(LayerTensors x) {
  for (Operand* operand : {&x.attn_norm, &x.attn, &x.mlp_norm, &x.act}) operand->fp8.amax = {};
  return x;
}

LayerGradients layer_gradients(const PlacedTensors& placed, const ModelConfig& config,
                               const TrainShape& shape, int64_t layer, const LayerTensors& x,
                               bool previous) {
  const Tensor stream = placed.find("d.residual");  // (N, C)
  LayerGradients d{.down = stream,
                   .up = {},
                   .out = stream,
                   .qkv = placed.find("d.qkv"),
                   .residual = stream,
                   .attn = placed.find("d.attn"),
                   .qk = placed.try_find("d.qk"),
                   .norm = placed.find("d.norm")};
  if (shape.fp8) {
    const int64_t N = shape.B * shape.T, C = config.dim;
    d.down.fp8 = fp8_gradient(placed, layer, Product::Down, N, C);
    d.up.fp8 = fp8_gradient(placed, layer, Product::Up, N, config.up_rows());
    d.out.fp8 = fp8_gradient(placed, layer, Product::Out, N, C);
    d.qkv.fp8 = fp8_gradient(placed, layer, Product::Qkv, N, config.qkv_rows());
    if (previous) d.residual.fp8 = fp8_gradient(placed, layer - 1, Product::Down, N, C);
  } else {
    d.up = x.up;  // whose values nobody reads any more
  }
  return d;
}

}  // namespace ingot
