// The rows of a LLaMA training or inference run, and the names model, optimizer, checkpoint and
// store find them by. Blocks: 0 = embedding, 1 … L = layers, L+1 = final norm and head.
#pragma once

#include <string>

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
TensorTable llama_parameters(const ModelConfig& config);

// Everything one rank of a training run allocates.
TensorTable llama_train_table(const ModelConfig& config, const TrainShape& shape);

// Everything generation allocates for one sequence: weights, a KV cache of `context` tokens per
// layer
// ("layers.i.cache.k", "layers.i.cache.v", each (1, context, G, D)), and the activations of up to
// `chunk` new tokens at a time.
TensorTable llama_infer_table(const ModelConfig& config, DType compute, int64_t context,
                              int64_t chunk, int64_t workspace_bytes);

std::string layer_name(int64_t layer, std::string_view what);  // "layers.3." + what
int head_block(const ModelConfig& config);                     // L + 1

}  // namespace ingot
