// What one transformer layer reads and writes, by name: weights, activations, gradients. Where they
// lie is resolved once, when a model is made.
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

// Something of each parameter of a layer, by the names that these have in the parameter table.
// C = dim, H heads, G key/value heads, D = head_dim, F = ffn.
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

using LayerWeights = LayerParts<Operand>;     // in compute dtype; of a matrix also its 8-bit form
using LayerSlots = LayerParts<GradientSlot>;  // where the gradients go

// Activations of a layer; N = B·T rows of the micro-batch.
struct LayerTensors {
  Tensor residual;    // (N, C) stream entering the layer
  Operand attn_norm;  // (N, C) what qkv reads: the stream itself without a norm before
  Tensor attn_rstd;   // (N)
  Tensor qkv;         // (N, qkv_rows); rotated in place unless QK-norm keeps it for its backward
  Tensor qk;          // (N, (H+G)·D) normed and rotated queries and keys, QK-norm only
  Tensor q_rstd;      // (N, H), or (N) over the projection, QK-norm only
  Tensor k_rstd;      // (N, G), or (N) over the projection, QK-norm only
  Operand attn;       // (N, H·D)
  Tensor lse;         // (B, H, T)
  Tensor attn_out;    // (N, C) of the branch, before its norm; norm after only
  Tensor attn_post_rstd;  // (N)
  Tensor mid;             // (N, C) stream after attention
  Operand mlp_norm;       // (N, C) what up reads
  Tensor mlp_rstd;        // (N)
  Tensor up;              // (N, up_rows)
  Operand act;            // (N, F)
  Tensor mlp_out;         // (N, C), as attn_out
  Tensor mlp_post_rstd;   // (N)
  // What of them the backward pass does not find as the forward pass left it.
  ActivationPolicy policy = ActivationPolicy::None;

  // Whether `norm`, one of the two, has to be built again for a weight's gradient.
  bool drops(const Operand& norm) const {
    return norm.fp8.defined() || policy == ActivationPolicy::Selective;
  }
};

// What comes back: the gradients of the outputs of a layer's products, and scratch between them.
// The stream has one gradient, which every branch adds to in place: mid and residual are the same
// memory, and so are out and down, the gradients of what branches end with, unless a norm stands
// between; but each is rounded to 8 bits for the product that reads it next.
struct LayerGradients {
  Operand down;      // (N, C)
  Operand up;        // (N, up_rows); its plain form is in the place of the values
  Operand mid;       // (N, C) of the stream after attention
  Operand out;       // (N, C)
  Operand qkv;       // (N, qkv_rows)
  Operand residual;  // (N, C) of the stream that enters, for the product that ends the layer before
  Tensor attn;       // (N, H·D)
  Tensor qk;         // (N, (H+G)·D), QK-norm only
  Tensor norm;       // (N, C), of either norm before a branch
};

// A layer's parameters in a store, and their 8-bit copies.
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

// Each of them by its name; row(name) gives a tensor, undefined where there is none.
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

// Rows of the training table that the layer has for a micro-batch in `slot`.
LayerTensors layer_tensors(const PlacedTensors& placed, const ModelConfig& config,
                           const TrainShape& shape, int64_t layer, int64_t slot);
// The same without the maxima that 8-bit operands raise: an evaluation leaves no trace in them.
LayerTensors without_maxima(LayerTensors x);
// Of the layer whose activations are x. `previous`: the layer before is of the same stage, so that
// what leaves this one is rounded for its last product at once.
LayerGradients layer_gradients(const PlacedTensors& placed, const ModelConfig& config,
                               const TrainShape& shape, int64_t layer, const LayerTensors& x,
                               bool previous);

}  // namespace ingot
