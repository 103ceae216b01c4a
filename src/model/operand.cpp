#include "model/operand.h"

#include <array>

#include "core/error/error.h"
#include "ops/activation.h"
#include "ops/bias.h"
#include "ops/fused_linear.h"
#include "spec/rows/transformer_table.h"

namespace ingot {
namespace {

// Place of a tensor among the scales.
int64_t scale_of(int64_t layer, LayerGemm gemm) {
  return kFp8PerLayer * layer + static_cast<int64_t>(gemm);
}
int64_t scale_of_head(const ModelConfig& config) {
  return kFp8PerLayer * config.layers;
}

// (S, kFp8ScaleStride) F32.
Tensor maxima_of(const PlacedTensors& placed, const std::string& what) {
  if (what == "weights") return placed.find("fp8.weights.amax");
  const Tensor both = fp8_maxima(placed);
  const int64_t at = what == "gradients" ? 1 : 0, S = both.shape[1];
  return both.reshape({2 * S, kFp8ScaleStride}).slice(0, at * S, (at + 1) * S);
}

// (S) F32, strided.
Tensor scale_row(const PlacedTensors& placed, const std::string& what, const std::string& field) {
  Tensor row = field == "amax" ? maxima_of(placed, what)
                               : placed.find(fmt::format("fp8.{}.{}", what, field));
  row.shape = {row.shape[0]};
  row.strides = {kFp8ScaleStride};
  return row;
}

Quantized with_scale(const PlacedTensors& placed, const char* what, int64_t index, Tensor rows,
                     Tensor transposed) {
  const auto one = [&](const char* field) {
    return scale_row(placed, what, field).slice(0, index, index + 1);
  };
  return {std::move(rows), std::move(transposed), one("scale"), one("inverse"), one("amax")};
}

// Of the memory of row `name`, as much as `shape` takes.
Tensor part_of(const PlacedTensors& placed, const char* name, Shape shape) {
  const Tensor row = placed.find(name);
  return Tensor::contiguous(row.data, row.dtype, shape, row.device);
}

Quantized weight_copies(const PlacedTensors& placed, int64_t index, const std::string& name) {
  return with_scale(placed, "weights", index, placed.find("fp8:" + name),
                    placed.find("fp8t:" + name));
}

}  // namespace

Quantized fp8_input(const PlacedTensors& placed, int64_t layer, LayerGemm gemm, int64_t N,
                    int64_t width) {
  return with_scale(placed, "activations", scale_of(layer, gemm),
                    part_of(placed, "fp8.x", {N, width}), part_of(placed, "fp8.xt", {width, N}));
}

// The residual stream's gradient is read by the GEMMs that end a branch; a wider gradient of the
// same branch is read by those that begin it: two buffers are enough.
Quantized fp8_gradient(const PlacedTensors& placed, int64_t layer, LayerGemm gemm, int64_t N,
                       int64_t width) {
  const bool stream = gemm == LayerGemm::Out || gemm == LayerGemm::Down;
  return with_scale(placed, "gradients", scale_of(layer, gemm),
                    part_of(placed, stream ? "fp8.d" : "fp8.wide_d", {N, width}),
                    part_of(placed, stream ? "fp8.dt" : "fp8.wide_dt", {width, N}));
}

Quantized fp8_weight(const PlacedTensors& placed, int64_t layer, LayerGemm gemm) {
  constexpr std::array kNames = {"qkv.weight", "out.weight", "up.weight", "down.weight"};
  return weight_copies(placed, scale_of(layer, gemm),
                       layer_name(layer, kNames[static_cast<size_t>(gemm)]));
}

Quantized fp8_head_input(const PlacedTensors& placed, const ModelConfig& config) {
  return with_scale(placed, "activations", scale_of_head(config), {}, {});
}

Quantized fp8_head_weight(const PlacedTensors& placed, const ModelConfig& config,
                          const std::string& name) {
  return weight_copies(placed, scale_of_head(config), name);
}

Tensor fp8_maxima(const PlacedTensors& placed) {
  return placed.find("fp8.maxima");
}

ScaleState fp8_scales(const PlacedTensors& placed, const char* what) {
  return {scale_row(placed, what, "amax"), placed.find(fmt::format("fp8.{}.history", what)),
          scale_row(placed, what, "scale"), scale_row(placed, what, "inverse")};
}

namespace {

// The kernels of an activation. Those that read or write 8 bits are null where there are none.
struct ActivationOps {
  void (*forward)(Context&, const Tensor& up, const Tensor& act);
  void (*backward)(Context&, const Tensor& d_act, const Tensor& up, const Tensor& d_up,
                   const Tensor& act);
  void (*forward_fp8)(Context&, const Tensor& up, const Quantized& act) = nullptr;
  void (*backward_fp8)(Context&, const Tensor& d_act, const Tensor& up, const Quantized& d_up,
                       const Quantized& act) = nullptr;
};

const ActivationOps& ops_of(Activation kind) {
  static constexpr ActivationOps kSwiGlu{swiglu_forward, swiglu_backward, swiglu_forward,
                                         swiglu_backward};
  static constexpr ActivationOps kGeGlu{geglu_forward, geglu_backward};
  static constexpr ActivationOps kReluSquared{relu_squared_forward, relu_squared_backward,
                                              relu_squared_forward, relu_squared_backward};
  static constexpr ActivationOps kGelu{gelu_forward, gelu_backward};
  switch (kind) {
    case Activation::SwiGlu:
      return kSwiGlu;
    case Activation::GeGlu:
      return kGeGlu;
    case Activation::ReluSquared:
      return kReluSquared;
    case Activation::Gelu:
      return kGelu;
  }
  throw Error(ErrorCode::Internal, "unknown activation");
}

}  // namespace

void linear_activation_forward(Context& ctx, Activation kind, const Operand& x,
                               const Affine<Operand>& w, const Tensor& up, const Operand& act) {
  const bool fuses = !x.fp8.defined() && !w.weight.is_packed() && !w.bias.plain.defined();
  if (kind == Activation::SwiGlu && fuses) {
    linear_swiglu_forward(ctx, x.plain, w.weight.plain, up, act.plain);
    return;
  }
  linear_forward(ctx, x, w, up);
  const ActivationOps& ops = ops_of(kind);
  if (act.fp8.defined() && ops.forward_fp8 != nullptr) {
    ops.forward_fp8(ctx, up, rows_of(act.fp8));
  } else {
    ops.forward(ctx, up, act.plain);
    quantize_rows(ctx, act);
  }
}

void linear_activation_backward(Context& ctx, const ActivationBackward& how, const Operand& dy,
                                const Operand& w, const Operand& act, const Tensor& up,
                                const Operand& d_up) {
  if (how.kind == Activation::SwiGlu && !dy.fp8.defined()) {
    linear_swiglu_backward(ctx, dy.plain, w.plain, up, d_up.plain, act.plain, how.act_is_kept);
    return;
  }
  const Tensor& d_act = act.plain;  // (N, F)
  linear_backward_input(ctx, dy, w, d_act);
  const ActivationOps& ops = ops_of(how.kind);
  if (act.fp8.defined() && ops.backward_fp8 != nullptr && !how.plain_d_up) {
    ops.backward_fp8(ctx, d_act, up, d_up.fp8, transposed_of(act.fp8));
  } else {
    ops.backward(ctx, d_act, up, d_up.plain, d_act);  // d_act is replaced by act, built again
    quantize_transposed(ctx, act);
    quantize_both(ctx, d_up);
  }
}

void linear_forward(Context& ctx, const Operand& x, const Affine<Operand>& w, const Tensor& y,
                    const Tensor& addend) {
  if (w.weight.is_packed())
    packed_linear_forward(ctx, x.plain, w.weight.packed, y, addend);
  else if (x.fp8.defined())
    linear_forward(ctx, x.fp8, w.weight.fp8, y, addend);
  else
    linear_forward(ctx, x.plain, w.weight.plain, y, addend);
  if (w.bias.plain.defined()) add_bias(ctx, y, w.bias.plain);
}

void linear_backward_input(Context& ctx, const Operand& dy, const Operand& w, const Tensor& dx,
                           Accumulate accumulate) {
  if (dy.fp8.defined())
    linear_backward_input(ctx, dy.fp8, w.fp8, dx, accumulate);
  else
    linear_backward_input(ctx, dy.plain, w.plain, dx, accumulate);
}

void linear_backward_weight(Context& ctx, const Operand& dy, const Operand& x, const Tensor& dw,
                            Accumulate accumulate) {
  if (dy.fp8.defined())
    linear_backward_weight(ctx, dy.fp8, x.fp8, dw, accumulate);
  else
    linear_backward_weight(ctx, dy.plain, x.plain, dw, accumulate);
}

void quantize_rows(Context& ctx, const Operand& x) {
  if (x.fp8.defined()) quantize(ctx, x.plain, rows_of(x.fp8));
}

void quantize_transposed(Context& ctx, const Operand& x) {
  if (x.fp8.defined()) quantize(ctx, x.plain, transposed_of(x.fp8));
}

void quantize_both(Context& ctx, const Operand& x) {
  if (x.fp8.defined()) quantize(ctx, x.plain, x.fp8);
}

void quantize_weight(Context& ctx, const Operand& w) {
  if (w.fp8.defined()) quantize_by_own_scale(ctx, w.plain, w.fp8);
}

}  // namespace ingot
