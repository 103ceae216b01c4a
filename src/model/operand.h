// The ops as a layer calls them: on plain tensors in compute dtype, with fp8 on their 8-bit forms,
// or on weights packed for decoding, depending on the operand. So one definition of a layer serves
// every precision.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/fp8.h"
#include "ops/matmul.h"
#include "ops/packed_linear.h"
#include "spec/model/model_config.h"
#include "spec/table/placed_tensors.h"

namespace ingot {

// An operand of a GEMM: an input, a weight or the gradient of an output.
struct Operand {
  Operand() = default;
  Operand(Tensor tensor) : plain(std::move(tensor)) {}

  Tensor plain;   // compute dtype; undefined if only 8 bits are kept
  Quantized fp8;  // undefined without fp8
  // A weight of a CPU's decoder, in this form alone; its input and output are F32.
  PackedWeight packed;

  bool is_packed() const { return packed.bytes.defined(); }
};

// The parameters of a norm or a linear layer, or one value for each; bias is undefined if there is
// none.
template <class T>
struct Affine {
  T weight, bias;
};

// The GEMMs of a layer; its scales are stored in this order.
enum class LayerGemm { Qkv, Out, Up, Down };

// The memory of the 8-bit operands of a layer's GEMMs (spec/rows/transformer_table.h). An input or
// gradient is (N, width) and shares memory with those of other GEMMs: it is valid until the next
// one is written.
Quantized fp8_input(const PlacedTensors& placed, int64_t layer, LayerGemm gemm, int64_t N,
                    int64_t width);
Quantized fp8_gradient(const PlacedTensors& placed, int64_t layer, LayerGemm gemm, int64_t N,
                       int64_t width);
Quantized fp8_weight(const PlacedTensors& placed, int64_t layer, LayerGemm gemm);
// The output head's operands: its input's scale without matrices, and its weight `name`.
Quantized fp8_head_input(const PlacedTensors& placed, const ModelConfig& config);
Quantized fp8_head_weight(const PlacedTensors& placed, const ModelConfig& config,
                          const std::string& name);
// The maxima of a step: of all inputs, then of all gradients: (2, S, kFp8ScaleStride) F32.
Tensor fp8_maxima(const PlacedTensors& placed);
// The arguments of update_scales() for all layers; `what`: "activations" or "gradients".
ScaleState fp8_scales(const PlacedTensors& placed, const char* what);

// rows_of: what the forward GEMM reads. transposed_of: what the weight gradient reads, rebuilt from
// values whose maximum the forward pass has recorded already.
inline Quantized rows_of(const Quantized& q) {
  return {q.rows, {}, q.scale, q.inverse, q.amax};
}
inline Quantized transposed_of(const Quantized& q) {
  return {{}, q.transposed, q.scale, q.inverse, {}};
}

// Shapes as in ops/activation.h and ops/matmul.h. up = x · wᵀ + bias; act = activation(up).
void linear_activation_forward(Context& ctx, Activation kind, const Operand& x,
                               const Affine<Operand>& w, const Tensor& up, const Operand& act);
// Options of an activation's backward pass.
struct ActivationBackward {
  Activation kind;
  bool act_is_kept;  // act still holds the forward output
  bool plain_d_up;   // the plain form of d_up is needed, for a bias gradient
};
// The backward pass of the activation and of the GEMM that reads act, dy · w: writes the gradient
// of up to d_up, whose plain form may be up. Rebuilds act in place.
void linear_activation_backward(Context& ctx, const ActivationBackward& how, const Operand& dy,
                                const Operand& w, const Operand& act, const Tensor& up,
                                const Operand& d_up);

// y = x · wᵀ, plus bias and `addend` if defined.
void linear_forward(Context& ctx, const Operand& x, const Affine<Operand>& w, const Tensor& y,
                    const Tensor& addend = {});
void linear_backward_input(Context& ctx, const Operand& dy, const Operand& w, const Tensor& dx,
                           Accumulate accumulate = Accumulate::No);
void linear_backward_weight(Context& ctx, const Operand& dy, const Operand& x, const Tensor& dw,
                            Accumulate accumulate);

// For an operand that no op above writes: quantizes what the forward GEMM reads, what the weight
// gradient reads, or both. Does nothing without fp8.
void quantize_rows(Context& ctx, const Operand& x);
void quantize_transposed(Context& ctx, const Operand& x);
void quantize_both(Context& ctx, const Operand& x);
void quantize_weight(Context& ctx, const Operand& w);

}  // namespace ingot
