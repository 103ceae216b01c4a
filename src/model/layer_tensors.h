// The tensors of one transformer layer by name: weights, activations, gradients. Their memory is
// resolved once, when a model is constructed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/tensor/tensor.h"
#include "model/gradient_slots.h"
#include "model/operand.h"
#include "parallel/shard/parameter_store.h"
#include "spec/model/model_config.h"
#include "spec/rows/transformer_table.h"
#include "spec/table/placed_tensors.h"

namespace ingot {

// One T for each parameter of a layer, named as in the parameter table. C = dim, H heads, G
// key/value heads, D = head_dim, F = ffn.
template <class T>
struct LayerParts {
  Affine<T> attn_norm;       // (C); norm_place before, both
  Affine<T> qkv;             // (qkv_rows, C), (qkv_rows)
  Affine<T> q_norm;          // (D) or (H·D), QK-norm only
  Affine<T> k_norm;          // (D) or (G·D), QK-norm only
  Affine<T> out;             // (C, H·D), (C)
  Affine<T> attn_post_norm;  // (C); norm_place after, both
  Affine<T> mlp_norm;        // (C); as attn_norm
  Affine<T> up;              // (up_rows, C), (up_rows)
  Affine<T> down;            // (C, F), (C)
  Affine<T> mlp_post_norm;   // (C); as attn_post_norm
};

template <class T>
struct LayerPart {
  std::string_view name;
  Affine<T> LayerParts<T>::*part;
};
template <class T>
inline constexpr std::array<LayerPart<T>, 10> kLayerParts = {
    {{"attn_norm", &LayerParts<T>::attn_norm},
     {"qkv", &LayerParts<T>::qkv},
     {"q_norm", &LayerParts<T>::q_norm},
     {"k_norm", &LayerParts<T>::k_norm},
     {"out", &LayerParts<T>::out},
     {"attn_post_norm", &LayerParts<T>::attn_post_norm},
     {"mlp_norm", &LayerParts<T>::mlp_norm},
     {"up", &LayerParts<T>::up},
     {"down", &LayerParts<T>::down},
     {"mlp_post_norm", &LayerParts<T>::mlp_post_norm}}};

// Each part by its name: of("qkv.weight") gives a T.
template <class T, class F>
LayerParts<T> layer_parts(const F& of) {
  LayerParts<T> parts;
  for (const auto& [name, part] : kLayerParts<T>)
    parts.*part = {of(std::string(name) + ".weight"), of(std::string(name) + ".bias")};
  return parts;
}

using LayerWeights = LayerParts<Operand>;     // compute dtype; matrices also in 8 bits
using LayerSlots = LayerParts<GradientSlot>;  // slots of the gradients

// Activations of a layer; N = B·T rows of the micro-batch.
struct LayerTensors {
  Tensor residual;    // (N, C) residual stream at the layer's input
  Operand attn_norm;  // (N, C) input of qkv: the residual stream if no norm stands before
  Tensor attn_rstd;   // (N)
  Tensor qkv;       // (N, qkv_rows); rotated in place unless QK-norm needs it for its backward pass
  Tensor qk;        // (N, (H+G)·D) normed and rotated queries and keys, QK-norm only
  Tensor q_rstd;    // (N, H), or (N) over the projection, QK-norm only
  Tensor k_rstd;    // (N, G), or (N) over the projection, QK-norm only
  Operand attn;     // (N, H·D)
  Tensor lse;       // (B, H, T)
  Tensor attn_out;  // (N, C) branch output before its norm; norm after only
  Tensor attn_post_rstd;  // (N)
  Tensor mid;             // (N, C) residual stream after attention
  Operand mlp_norm;       // (N, C) input of up
  Tensor mlp_rstd;        // (N)
  Tensor up;              // (N, up_rows)
  Operand act;            // (N, F)
  Tensor mlp_out;         // (N, C), as attn_out
  Tensor mlp_post_rstd;   // (N)
  // Decides which of them the backward pass must recompute.
  ActivationPolicy policy = ActivationPolicy::None;

  // Whether `norm`, one of the two, must be recomputed for a weight gradient.
  bool drops(const Operand& norm) const {
    return norm.fp8.defined() || policy == ActivationPolicy::Selective;
  }
};

// Gradients: of the outputs of a layer's GEMMs, and scratch between them. The residual stream has
// one gradient, to which every branch adds in place. So mid and residual share memory, as do out
// and down (the gradients of the branch outputs), unless a norm stands between. Each is rounded to
// 8 bits for the GEMM that reads it next.
struct LayerGradients {
  Operand down;      // (N, C)
  Operand up;        // (N, up_rows); its plain form overwrites the values
  Operand mid;       // (N, C) of the residual stream after attention
  Operand out;       // (N, C)
  Operand qkv;       // (N, qkv_rows)
  Operand residual;  // (N, C) of the layer's input, for the last GEMM of the layer before
  Tensor attn;       // (N, H·D)
  Tensor qk;         // (N, (H+G)·D), QK-norm only
  Tensor norm;       // (N, C), of a norm before a branch
};

// A layer's parameters in a store, with their 8-bit copies.
class LayerParameters {
 public:
  LayerParameters(const TensorTable& parameters, const PlacedTensors& placed, int64_t layer,
                  bool fp8);

  LayerWeights weights(const ParameterStore& store) const;  // while their block is acquired
  LayerSlots slots(ParameterStore& store) const;            // at a use that writes gradients

 private:
  LayerParts<TensorId> ids_;
  std::array<Quantized, kFp8PerLayer> fp8_;  // by Product
};

// Builds them by name; row(name) returns a tensor, undefined if there is none.
template <class Row>
LayerTensors tensors_of(const ModelConfig& config, const Row& row) {
  LayerTensors x{.residual = row("residual"),
                 .attn_norm = row("attn_norm"),
                 .attn_rstd = row("attn_rstd"),
                 .qkv = row("qkv"),
                 .qk = row("qk"),
                 .q_rstd = row("q_rstd"),
                 .k_rstd = row("k_rstd"),
                 .attn = row("attn"),
                 .lse = row("lse"),
                 .attn_out = row("attn_out"),
                 .attn_post_rstd = row("attn_post_rstd"),
                 .mid = row("mid"),
                 .mlp_norm = row("mlp_norm"),
                 .mlp_rstd = row("mlp_rstd"),
                 .up = row("up"),
                 .act = row("act"),
                 .mlp_out = row("mlp_out"),
                 .mlp_post_rstd = row("mlp_post_rstd")};
  if (!config.norm_before()) {
    x.attn_norm = x.residual;
    x.mlp_norm = x.mid;
  }
  return x;
}

// Rows of the training table for a layer and a micro-batch in `slot`.
LayerTensors layer_tensors(const PlacedTensors& placed, const ModelConfig& config,
                           const TrainShape& shape, int64_t layer, int64_t slot);
// The same without the amax of 8-bit operands: an evaluation does not update them.
LayerTensors without_maxima(LayerTensors x);
// For the layer with activations x. `previous`: the previous layer is on the same pipeline stage,
// so the gradient of this layer's input is rounded for that layer's last GEMM at once.
LayerGradients layer_gradients(const PlacedTensors& placed, const ModelConfig& config,
                               const TrainShape& shape, int64_t layer, const LayerTensors& x,
                               bool previous);

}  // namespace ingot
