#include "model/layer_tensors.h"

namespace ingot {

LayerParameters::LayerParameters(const TensorTable& parameters, const PlacedTensors& placed,
                                 int64_t layer, bool fp8)
    : ids_(layer_parts<TensorId>(
          [&](std::string_view what) { return parameters.try_find(layer_name(layer, what)); })) {
  if (!fp8) return;
  for (const LayerGemm gemm : {LayerGemm::Qkv, LayerGemm::Out, LayerGemm::Up, LayerGemm::Down})
    fp8_[static_cast<size_t>(gemm)] = fp8_weight(placed, layer, gemm);
}

namespace {

// What `of` gives for the parameters that there are.
template <class T, class F>
LayerParts<T> parts_of(const LayerParts<TensorId>& ids, const F& of) {
  const auto get = [&](TensorId id) { return id.valid() ? T(of(id)) : T{}; };
  LayerParts<T> parts;
  for (size_t i = 0; i < kLayerParts<T>.size(); ++i) {
    const Affine<TensorId>& from = ids.*kLayerParts<TensorId>[i].part;
    parts.*kLayerParts<T>[i].part = {get(from.weight), get(from.bias)};
  }
  return parts;
}

}  // namespace

LayerWeights LayerParameters::weights(const ParameterStore& store) const {
  LayerWeights w = parts_of<Operand>(ids_, [&](TensorId id) { return store.weight(id); });
  const auto fp8 = [&](LayerGemm gemm) { return fp8_[static_cast<size_t>(gemm)]; };
  w.qkv.weight.fp8 = fp8(LayerGemm::Qkv);
  w.out.weight.fp8 = fp8(LayerGemm::Out);
  w.up.weight.fp8 = fp8(LayerGemm::Up);
  w.down.weight.fp8 = fp8(LayerGemm::Down);
  return w;
}

LayerSlots LayerParameters::slots(ParameterStore& store) const {
  return parts_of<GradientSlot>(ids_, [&](TensorId id) { return store.gradient(id); });
}

LayerTensors layer_tensors(const PlacedTensors& placed, const ModelConfig& config,
                           const TrainShape& shape, int64_t layer, int64_t slot) {
  const auto place = offload_place(layer, config.layers, shape.offload_layers);
  const auto row = [&](std::string_view what) {
    const TensorId found = layer_row(placed.table(), layer, place, what, slot);
    return found.valid() ? placed[found] : Tensor{};
  };
  LayerTensors x = tensors_of(config, row);
  x.policy = policy_of(shape, layer, config.layers);
  if (shape.fp8) {
    const int64_t N = shape.B * shape.T, C = config.dim;
    x.attn_norm.fp8 = fp8_input(placed, layer, LayerGemm::Qkv, N, C);
    x.attn.fp8 = fp8_input(placed, layer, LayerGemm::Out, N, config.heads * config.head_dim);
    x.mlp_norm.fp8 = fp8_input(placed, layer, LayerGemm::Up, N, C);
    x.act.fp8 = fp8_input(placed, layer, LayerGemm::Down, N, config.ffn);
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
  const bool after = config.norm_after();
  const Tensor branch = after ? placed.find("d.branch") : stream;  // (N, C)
  LayerGradients d{.down = branch,
                   .up = x.up,
                   .mid = stream,
                   .out = branch,
                   .qkv = placed.find("d.qkv"),
                   .residual = stream,
                   .attn = placed.find("d.attn"),
                   .qk = placed.try_find("d.qk"),
                   .norm = placed.try_find("d.norm")};
  if (shape.fp8) {
    const int64_t N = shape.B * shape.T, C = config.dim;
    d.down.fp8 = fp8_gradient(placed, layer, LayerGemm::Down, N, C);
    d.up.fp8 = fp8_gradient(placed, layer, LayerGemm::Up, N, config.up_rows());
    d.out.fp8 = fp8_gradient(placed, layer, LayerGemm::Out, N, C);
    d.qkv.fp8 = fp8_gradient(placed, layer, LayerGemm::Qkv, N, config.qkv_rows());
    if (!after) d.mid.fp8 = d.out.fp8;
    if (!after && previous) d.residual.fp8 = fp8_gradient(placed, layer - 1, LayerGemm::Down, N, C);
  }
  return d;
}

}  // namespace ingot
