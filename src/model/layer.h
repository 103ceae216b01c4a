// One transformer layer as a sequence of ops on named tensors. Training, recomputation and decoding
// are built from these pieces, so a layer is written down once.
#pragma once

#include <cstdint>

#include "core/context.h"
#include "core/tensor.h"
#include "model/operand.h"
#include "ops/attention.h"
#include "ops/rope.h"
#include "spec/model_config.h"

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
};

// What comes back to a layer's products: the gradients of their outputs.
struct LayerGradients {
  Operand qkv;   // (N, qkv_rows)
  Operand out;   // (N, C) of the stream after attention
  Operand up;    // (N, up_rows)
  Operand down;  // (N, C) of the stream that leaves the layer
};

// Heads as attention takes them, views into qkv (and qk).
struct HeadViews {
  Tensor q;   // (B, T, H, D)
  Tensor k;   // (B, T, G, D)
  Tensor v;   // (B, T, G, D)
  Tensor qk;  // (B, T, H+G, D) queries and keys, which lie side by side: rotated in one pass
};

class Layer {
 public:
  Layer(const ModelConfig& config, int64_t B, int64_t T) : config_(config), B_(B), T_(T) {}

  // Where the heads lie inside `qkv` (N, qkv_rows) and, under QK-norm, `qk` (N, (H+G)·D).
  HeadViews heads(const Tensor& qkv, const Tensor& qk) const;

  // residual → attn_norm.
  void norm_input(Context& ctx, const LayerWeights& w, const LayerTensors& x) const;
  // attn_norm → qkv, QK-norm, rotation.
  HeadViews project_qkv(Context& ctx, const LayerWeights& w, const RopeInput& rope,
                        const LayerTensors& x) const;
  // attn and residual → mid → mlp_norm.
  void attention_output(Context& ctx, const LayerWeights& w, const LayerTensors& x) const;
  // mlp_norm → up → act.
  void mlp_hidden(Context& ctx, const LayerWeights& w, const LayerTensors& x) const;
  // act and mid → `next`(N, C), the stream that leaves the layer.
  void mlp_output(Context& ctx, const LayerWeights& w, const LayerTensors& x,
                  const Tensor& next) const;

 private:
  const ModelConfig& config_;
  int64_t B_, T_;
};

RopeInput rope_input(const ModelConfig& config, const Tensor& cos, const Tensor& sin);
RopeFrequencies rope_frequencies(const RopeConfig& config);

}  // namespace ingot
