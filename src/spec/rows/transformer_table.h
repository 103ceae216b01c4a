// The rows of a training or inference run of a transformer, and the names the model finds them by.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "spec/layout/layout.h"
#include "spec/model/activation_policy.h"
#include "spec/model/model_config.h"
#include "spec/model/transformer_parameters.h"
#include "spec/table/tensor_table.h"

namespace ingot {

// What the bytes of a training run depend on.
struct TrainShape {
  int64_t B = 1;               // sequences in a micro-batch
  int64_t T = 1;               // tokens in a sequence
  DType compute = DType::F32;  // weights and activations; F64, F32, BF16 or F16
  bool fp8 = false;            // a layer's four products on 8-bit operands (docs/fp8.md)
  bool fp8_head = false;       // under fp8 also those of the output head
  ActivationPolicy policy = ActivationPolicy::Selective;
  int64_t slots = 1;        // micro-batches whose activations are held at once
  int64_t keep_layers = 0;  // so many, the last ones, keep all activations: policy_of()
  Layout layout;
  int64_t loss_chunk = 512;     // tokens whose logits exist at once
  int64_t workspace_bytes = 0;  // largest workspace any op of the step asks for, but the head's
  int64_t head_workspace_bytes = 0;  // the output head's
  bool document_mask = false;
  int64_t offload_layers = 0;  // so many keep theirs in host memory; not with keep_layers
};

ActivationPolicy policy_of(const TrainShape& shape, int64_t layer, int64_t num_layers);

// Under fp8 a layer has as many quantized inputs, gradients and weights as products; the head's
// scales come after the last layer's.
inline constexpr int64_t kFp8PerLayer = 4;
inline constexpr int64_t kFp8ScaleStride = 4;  // 16 bytes: where cuBLASLt looks for one
inline constexpr int64_t kFp8History = 16;     // steps whose maxima choose a scale

// What one rank's micro-step needs besides the parameter store: inputs, activations, their
// gradients and workspace. The caller adds the store's rows (weights, gradients, masters, moments)
// with add_store_rows() of spec/rows/store_rows.h. N = B·T; everything is in compute dtype unless
// noted, where "wide" is wide_dtype() of it.
//   inputs: tokens (N) I32, targets (N) I32, loss.scale (1) F64, unless positions are learned
//     rope.cos and rope.sin (T, D/2) wide; under a document mask document_start (B, T) I32; under
//     it, or where they are learned, positions (B, T) I32
//   a layer's: residual (N, C), attn_norm (N, C), attn_rstd (N) wide, qkv (N, qkv_rows), attn
//     (N, H·D), lse (B, H, T) wide, mid (N, C), mlp_norm (N, C), mlp_rstd (N) wide, up
//     (N, up_rows), act (N, F); with QK-norm qk (N, (H+G)·D), q_rstd (N, H) wide, k_rstd (N, G)
//     wide, both (N) where it goes over the projection; where norms stand after branches attn_out
//     (N, C), attn_post_rstd (N) wide, mlp_out (N, C), mlp_post_rstd (N) wide, and where they do
//     not stand before them, no attn_norm, attn_rstd, mlp_norm and mlp_rstd.
//     Those a layer's policy keeps are "layers.i.NAME"; those it drops exist once, as
//     "shared.NAME", unless no layer drops them.
//     Offloaded layers, see offload_place(), have no rows of their own on the device: they take
//     "offload.0.NAME" and "offload.1.NAME" in turn; what is put away meanwhile lies in page-locked
//     memory as "host.PLACE.NAME"
//   under fp8 no norms but LayerNorm's, which layers share; shared by all layers too, and 8 bits
//     wide: fp8.x (N, widest), fp8.xt (widest, N), fp8.d and fp8.wide_d (N, C and widest), fp8.dt
//     and fp8.wide_dt (C and widest, N); of each matrix NAME of a layer, and the head's under
//     fp8_head, "fp8:NAME" and, transposed, "fp8t:NAME"; and their scales in F32,
//     S = kFp8PerLayer · L + 1 of them:
//     fp8.{activations,gradients,weights}.{scale,inverse} and fp8.weights.amax
//     (S, kFp8ScaleStride), fp8.maxima (2, S, kFp8ScaleStride) of activations and of gradients, of
//     all of which the first column is used, fp8.{activations,gradients}.history (kFp8History, S)
//   shared by all: final_residual (N, C), final_norm (N, C), final_rstd (N) wide, losses (N) wide
//   gradients: d.residual (N, C), d.qkv (N, qkv_rows), d.qk (N, (H+G)·D) with QK-norm, d.attn
//     (N, H·D), d.norm (N, C) with norms before branches, d.branch (N, C) with norms after them;
//     those of up and act take the place of the values they belong to
//   workspace (workspace_bytes) U8, head_workspace (head_workspace_bytes) U8; what the layers share
//     holds nothing while the head computes, so the latter mostly lies there
// Where there are several slots, what a micro-batch keeps from its forward to its backward pass
// (inputs, "layers.i.NAME", final_*, losses) exists for each, named by slot_name(); what is written
// and read within one pass of one layer exists once.
TensorTable transformer_train_table(const ModelConfig& config, const TrainShape& shape);

// Which of the offloaded layers this is, counted from 0; nothing where it keeps its rows. They are
// spread over the model, so that copies have the time of the layers between.
std::optional<int64_t> offload_place(int64_t layer, int64_t num_layers, int64_t num_offloaded);

// Whether the layer of this place puts its rows away: of the offloaded ones the last two need not.
bool is_put_away(int64_t place, int64_t num_offloaded);

// "layers.i.what" of the slot, or where the layers share the row "offload.….what" or "shared.what";
// invalid when there is none of them. `place`: offload_place() of the layer.
TensorId layer_row(const TensorTable& table, int64_t layer, std::optional<int64_t> place,
                   std::string_view what, int64_t slot = 0);

// Everything generation allocates for one sequence: weights (names as transformer_parameters), a KV
// cache of `context` tokens per layer ("layers.i.cache.k", "layers.i.cache.v", each (1, context, G,
// D)), rope.cos and rope.sin (context, D/2) wide, and for up to `chunk` new tokens at a time:
// tokens (chunk) I32, positions (chunk) I32 where they are learned in place of rope's rows, all
// layer rows of the training table as "shared.NAME", final_norm, final_rstd; logits (1, V) wide and
// workspace.
TensorTable transformer_infer_table(const ModelConfig& config, DType compute, int64_t context,
                                    int64_t chunk, int64_t workspace_bytes);

std::string offload_name(int64_t place, std::string_view what);  // "offload.1." + what for place 3
std::string host_name(int64_t place, std::string_view what);     // "host.3." + what
std::string slot_name(int64_t slot, std::string_view name);      // name, or "slot.1." + name

}  // namespace ingot
