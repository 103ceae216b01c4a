// The parameters of a transformer as rows of a tensor table. Model, optimizer, checkpoint and store
// find them by these names. Blocks: 0 = embedding, 1 … L = layers, L + 1 = final norm and head.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "spec/model/model_config.h"
#include "spec/table/tensor_table.h"

namespace ingot {

// In checkpoint order. Names:
//   embedding.weight (V, C); position.weight (context, C) if positions are learned;
//   layers.i.{attn_norm.weight (C), qkv.weight (qkv_rows, C), q_norm.weight, k_norm.weight (D, or
//   over the projection H·D and G·D), out.weight (C, H·D), attn_post_norm.weight (C),
//   mlp_norm.weight (C), up.weight (up_rows, C), down.weight (C, F), mlp_post_norm.weight (C)};
//   final_norm.weight (C); head.weight (V, C) unless tied.
// attn_norm and mlp_norm exist if norms stand before branches, the post norms if after. A bias
// follows its weight: NORM.bias (C) of these norms under LayerNorm; layers.i.{qkv.bias (qkv_rows),
// out.bias (C), up.bias (up_rows), down.bias (C)}. Stacked matrices: qkv.weight is q (H·D), k
// (G·D), v (G·D); a gated up.weight is gate (F), up (F). Biases are stacked likewise.
TensorTable transformer_parameters(const ModelConfig& config);

std::string layer_name(int64_t layer, std::string_view what);  // "layers.3." + what
int layer_block(int64_t layer);                                // layer + 1
int head_block(const ModelConfig& config);                     // L + 1

}  // namespace ingot
