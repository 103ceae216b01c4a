// The rows of a LLaMA training or inference run, and the names model, optimizer, checkpoint and
// store find them by. Blocks: 0 = embedding, 1 … L = layers, L+1 = final norm and head.
#pragma once

#include <string>
#include <string_view>

#include "spec/mesh.h"
#include "spec/model_config.h"
#include "spec/tensor_table.h"

namespace ingot {

enum class ActivationPolicy { None, Selective, Full };  // what is recomputed in the backward

// What the bytes of a training run depend on.
struct TrainShape {
  int64_t B = 1;               // sequences in a micro-batch
  int64_t T = 1;               // tokens in a sequence
  DType compute = DType::F32;  // weights and activations; F32 or BF16 (master weights stay F32)
  ActivationPolicy policy = ActivationPolicy::Selective;
  Mesh mesh;
  int64_t loss_chunk = 512;     // tokens whose logits exist at once
  int64_t workspace_bytes = 0;  // largest workspace any op of the step asks for
  bool document_mask = false;
};

// Rows of parameters only, in the order checkpoints list them. Names:
//   embedding.weight (V, C); layers.i.{attn_norm.weight (C), qkv.weight (qkv_rows, C),
//   q_norm.weight (D), k_norm.weight (D), out.weight (C, H·D), mlp_norm.weight (C), up.weight
//   (up_rows, C), down.weight (C, F)}; final_norm.weight (C); head.weight (V, C) unless tied.
// Stacked matrices: qkv.weight is q (H·D), k (G·D), v (G·D); a gated up.weight gate (F), up (F).
TensorTable llama_parameters(const ModelConfig& config);

// What one rank's micro-step needs besides the parameter store: inputs, activations, their
// gradients and workspace. The caller adds the store's rows (weights, gradients, masters, moments)
// with add_store_rows() of parallel/shard. N = B·T; everything is in compute dtype unless noted.
//   inputs: tokens (N) I32, targets (N) I32, rope.cos and rope.sin (T, D/2) F32; under a document
//     mask document_start (B, T) I32, positions (B, T) I32
//   a layer's: residual (N, C), attn_norm (N, C), attn_rstd (N) F32, qkv (N, qkv_rows), attn
//     (N, H·D), lse (B, H, T) F32, mid (N, C), mlp_norm (N, C), mlp_rstd (N) F32, up (N, up_rows),
//     act (N, F); with QK-norm qk (N, (H+G)·D), q_rstd (N, H) F32, k_rstd (N, G) F32.
//     Those the policy keeps are "layers.i.NAME"; those it drops exist once, as "shared.NAME"
//   shared by all: branch (N, C), final_residual (N, C), final_norm (N, C), final_rstd (N) F32,
//     losses (N) F32
//   gradients: d.residual (N, C), d.qkv (N, qkv_rows), d.qk (N, (H+G)·D) with QK-norm, d.attn
//     (N, H·D); those of norms, up and act take the place of the values they belong to
//   workspace (workspace_bytes) U8
TensorTable llama_train_table(const ModelConfig& config, const TrainShape& shape);

// "layers.i.what", or "shared.what" where the layers share the row; invalid when there is neither.
TensorId layer_row(const TensorTable& table, int64_t layer, std::string_view what);

// Everything generation allocates for one sequence: weights (names as llama_parameters), a KV cache
// of `context` tokens per layer ("layers.i.cache.k", "layers.i.cache.v", each (1, context, G, D)),
// rope.cos and rope.sin (context, D/2) F32, and for up to `chunk` new tokens at a time: tokens
// (chunk) I32, all layer rows of the training table as "shared.NAME", branch, final_residual,
// final_norm, final_rstd; logits (1, V) F32 and workspace.
TensorTable llama_infer_table(const ModelConfig& config, DType compute, int64_t context,
                              int64_t chunk, int64_t workspace_bytes);

std::string layer_name(int64_t layer, std::string_view what);  // "layers.3." + what
int head_block(const ModelConfig& config);                     // L + 1

}  // namespace ingot
