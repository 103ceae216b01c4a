// What one transformer layer reads and writes, by name: weights, activations, gradients. Where they
// lie is resolved once, when a model is made.
#pragma once

#include <array>
#include <cstdint>

#include "core/tensor.h"
#include "model/gradient_slots.h"
#include "model/operand.h"
#include "parallel/shard/parameter_store.h"
#include "spec/llama_table.h"
#include "spec/model_config.h"
#include "spec/placed_tensors.h"

namespace ingot {

// Weights of a layer in compute dtype; C = dim, H heads, G key/value heads, D = head_dim, F = ffn.
struct LayerWeights {
  Tensor attn_norm;  // (C)
  Operand qkv;       // (qkv_rows, C)
  Tensor q_norm;     // (D), QK-norm only
  Tensor k_norm;     // (D), QK-norm only
  Operand out;       // (C, H·D)
  Tensor mlp_norm;   // (C)
  Operand up;        // (up_rows, C)
  Operand down;      // (C, F)
};

// Activations of a layer; N = B·T rows of the micro-batch.
struct LayerTensors {
  Tensor residual;    // (N, C) stream entering the layer
  Operand attn_norm;  // (N, C)
  Tensor attn_rstd;   // (N)
  Tensor qkv;         // (N, qkv_rows); rotated in place unless QK-norm keeps it for its backward
  Tensor qk;          // (N, (H+G)·D) normed and rotated queries and keys, QK-norm only
  Tensor q_rstd;      // (N, H), QK-norm only
  Tensor k_rstd;      // (N, G), QK-norm only
  Operand attn;       // (N, H·D)
  Tensor lse;         // (B, H, T)
  Tensor mid;         // (N, C) stream after attention
  Operand mlp_norm;   // (N, C)
  Tensor mlp_rstd;    // (N)
  Tensor up;          // (N, up_rows)
  Operand act;        // (N, F)
  // What of them the backward pass does not find as the forward pass left it.
  ActivationPolicy policy = ActivationPolicy::None;

  // Whether `norm`, one of the two, has to be built again for a weight's gradient.
  bool drops(const Operand& norm) const {
    return norm.fp8.defined() || policy == ActivationPolicy::Selective;
  }
};

// What comes back: the gradients of the outputs of a layer's products, and scratch between them.
// The stream has one gradient, which every branch adds to in place: out, down and residual are the
// same memory, but each is rounded to 8 bits for the product that reads it next.
struct LayerGradients {
  Operand down;      // (N, C) of the stream that leaves the layer
  Operand up;        // (N, up_rows)
  Operand out;       // (N, C) of the stream after attention
  Operand qkv;       // (N, qkv_rows)
  Operand residual;  // (N, C) of the stream that enters, for the product that ends the layer before
  Tensor attn;       // (N, H·D)
  Tensor qk;         // (N, (H+G)·D), QK-norm only
  Tensor norm;       // (N, C), of either norm
};

// Where the gradients of a layer's parameters go.
struct LayerSlots {
  GradientSlot attn_norm, qkv, q_norm, k_norm, out, mlp_norm, up, down;
};

// A layer's parameters in a store, and their 8-bit copies.
class LayerParameters {
 public:
  LayerParameters(const TensorTable& parameters, const PlacedTensors& placed, int64_t layer,
                  bool fp8);

  LayerWeights weights(const ParameterStore& store) const;  // while their block is acquired
  LayerSlots slots(ParameterStore& store) const;            // at a use that writes gradients

 private:
  TensorId attn_norm_, qkv_, q_norm_, k_norm_, out_, mlp_norm_, up_, down_;
  std::array<Quantized, kFp8PerLayer> fp8_;  // by Product
};

// Each of them by its name; row(name) gives a tensor, undefined where there is none.
template <class Row>
LayerTensors tensors_of(const Row& row) {
  return {.residual = row("residual"),
          .attn_norm = row("attn_norm"),
          .attn_rstd = row("attn_rstd"),
          .qkv = row("qkv"),
          .qk = row("qk"),
          .q_rstd = row("q_rstd"),
          .k_rstd = row("k_rstd"),
          .attn = row("attn"),
          .lse = row("lse"),
          .mid = row("mid"),
          .mlp_norm = row("mlp_norm"),
          .mlp_rstd = row("mlp_rstd"),
          .up = row("up"),
          .act = row("act")};
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
