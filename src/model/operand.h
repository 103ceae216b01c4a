// The ops as a layer calls them: on tensors in compute dtype or, under fp8, on their 8-bit forms,
// whichever an operand has. So a layer is written down once for every precision.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/fp8.h"
#include "ops/matmul.h"
#include "spec/model/model_config.h"
#include "spec/table/placed_tensors.h"

namespace ingot {

// What a product reads: an input, a weight or the gradient of an output.
struct Operand {
  Operand() = default;
  Operand(Tensor tensor) : plain(std::move(tensor)) {}

  Tensor plain;   // in compute dtype; undefined where only 8 bits are kept
  Quantized fp8;  // undefined except under fp8
};

// A norm's parameters, or a product's, or what belongs to them; without a bias it is undefined.
template <class T>
struct Affine {
  T weight, bias;
};

// The products of a layer; its scales are kept in this order.
enum class Product { Qkv, Out, Up, Down };

// Where the 8-bit operands of a layer's products lie (spec/rows/transformer_table.h). An input or
// gradient is (N, width) and shares its memory with those of other products: it is valid until the
// next is made.
Quantized fp8_input(const PlacedTensors& placed, int64_t layer, Product product, int64_t N,
                    int64_t width);
Quantized fp8_gradient(const PlacedTensors& placed, int64_t layer, Product product, int64_t N,
                       int64_t width);
Quantized fp8_weight(const PlacedTensors& placed, int64_t layer, Product product);
// Those of the output head: its input's scale without matrices, and its weight `name`.
Quantized fp8_head_input(const PlacedTensors& placed, const ModelConfig& config);
Quantized fp8_head_weight(const PlacedTensors& placed, const ModelConfig& config,
                          const std::string& name);
// The maxima of a step, of all inputs and then of all gradients: (2, S, kFp8ScaleStride) F32.
Tensor fp8_maxima(const PlacedTensors& placed);
// What update_scales() takes of all layers; `what`: "activations" or "gradients".
ScaleState fp8_scales(const PlacedTensors& placed, const char* what);

// What the forward product reads of an operand, and what the weight's gradient reads, built again
// from what was met on the way forward: its maximum is known.
inline Quantized rows_of(const Quantized& q) {
  return {q.rows, {}, q.scale, q.inverse, q.amax};
}
inline Quantized transposed_of(const Quantized& q) {
  return {{}, q.transposed, q.scale, q.inverse, {}};
}

// Shapes as in ops/activation.h and ops/matmul.h.
// up = x · wᵀ + bias, and act of it.
void linear_activation_forward(Context& ctx, Activation kind, const Operand& x,
                               const Affine<Operand>& w, const Tensor& up, const Operand& act);
// How the way back through an activation finds and leaves what it needs.
struct ActivationBackward {
  Activation kind;
  bool act_is_kept;  // what is in act is still the forward's
  bool plain_d_up;   // somebody reads d_up's plain form, a bias's gradient
};
// The way back through the product that reads act, dy · w, and through the activation: the gradient
// of up in d_up, whose plain form may be up. act is built again in its own place.
void linear_activation_backward(Context& ctx, const ActivationBackward& how, const Operand& dy,
                                const Operand& w, const Operand& act, const Tensor& up,
                                const Operand& d_up);

// y = x · wᵀ, plus the bias and `addend` where there are some.
void linear_forward(Context& ctx, const Operand& x, const Affine<Operand>& w, const Tensor& y,
                    const Tensor& addend = {});
void linear_backward_input(Context& ctx, const Operand& dy, const Operand& w, const Tensor& dx,
                           Accumulate accumulate = Accumulate::No);
void linear_backward_weight(Context& ctx, const Operand& dy, const Operand& x, const Tensor& dw,
                            Accumulate accumulate);

// For an operand that no op above makes: what the forward product reads, what the weight's gradient
// reads, or both. Nothing to do except under fp8.
void quantize_rows(Context& ctx, const Operand& x);
void quantize_transposed(Context& ctx, const Operand& x);
void quantize_both(Context& ctx, const Operand& x);
void quantize_weight(Context& ctx, const Operand& w);

}  // namespace ingot
