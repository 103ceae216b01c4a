#include "plan/workspace.h"

#include <algorithm>

#include "ops/attention.h"
#include "ops/bias.h"
#include "ops/embedding.h"
#include "ops/fp8.h"
#include "ops/layer_norm.h"
#include "ops/lm_head.h"
#include "ops/matmul.h"
#include "ops/packed_linear.h"
#include "ops/paged_attention.h"
#include "ops/rms_norm.h"
#include "ops/top_logits.h"
#include "spec/rows/optimizer_states.h"

namespace ingot {

int64_t train_workspace_bytes(const DeviceFacts& facts, bool deterministic, const ModelConfig& c,
                              const TrainShape& shape) {
  const int64_t N = shape.B * shape.T;
  const bool whole_rows = !c.qk_norm && (c.window == 0 || c.window >= shape.T) &&
                          c.attn_softcap == 0.0 && !shape.document_mask;
  const bool over_projection = c.qk_norm && c.qk_norm_span == QkNormSpan::Projection;
  const int64_t biased = std::max({c.qkv_bias ? c.qkv_rows() : 0, c.out_bias ? c.dim : 0,
                                   c.mlp_bias ? std::max(c.up_rows(), c.dim) : 0});
  return std::max(
      {matmul_workspace_bytes(facts),
       attention_workspace_bytes(facts, {.dtype = shape.compute,
                                         .B = shape.B,
                                         .Tq = shape.T,
                                         .Tk = shape.T,
                                         .H = c.heads,
                                         .G = c.kv_heads,
                                         .D = c.head_dim,
                                         .deterministic = deterministic,
                                         .whole_rows = whole_rows}),
       embedding_backward_workspace_bytes(facts, N),
       rms_norm_backward_workspace_bytes(facts, N, c.dim),
       over_projection ? rms_norm_backward_workspace_bytes(facts, N, c.heads * c.head_dim)
                       : rms_norm_backward_workspace_bytes(facts, N * c.heads, c.head_dim),
       c.norm == NormKind::Layer ? layer_norm_backward_workspace_bytes(facts, N, c.dim) : 0,
       biased > 0 ? bias_gradient_workspace_bytes(facts, N, biased) : 0,
       shape.fp8 ? fp8_workspace_bytes(facts, shape.compute, N, std::max(c.up_rows(), c.qkv_rows()))
                 : 0});
}

int64_t head_workspace_bytes(const DeviceFacts& facts, const ModelConfig& c,
                             const TrainShape& shape) {
  const int64_t chunk = std::min(shape.loss_chunk, shape.B * shape.T);
  return shape.fp8_head ? lm_head_fp8_workspace_bytes(facts, shape.compute, chunk, c.vocab, c.dim)
                        : lm_head_workspace_bytes(facts, shape.compute, chunk, c.vocab);
}

int64_t update_workspace_bytes(const DeviceFacts& facts, DType compute,
                               const TensorTable& parameters, const OptimConfig& optim,
                               const Layout& layout) {
  const UpdateScratch scratch = update_scratch({optim, facts.kind, compute, parameters, layout});
  return scratch.bytes + (scratch.gemms ? matmul_workspace_bytes(facts) : 0);
}

int64_t decode_workspace_bytes(const DeviceFacts& facts, const ModelConfig& c,
                               const DecodeShape& shape) {
  int64_t bytes = paged_attention_workspace_bytes(facts, {.dtype = compute_dtype(shape),
                                                          .max_rows = shape.max_rows,
                                                          .max_context = shape.context,
                                                          .heads = c.heads,
                                                          .kv_heads = c.kv_heads,
                                                          .head_dim = c.head_dim,
                                                          .deterministic = true});
  if (!shape.packed)
    return std::max({bytes, matmul_workspace_bytes(facts),
                     top_logits_workspace_bytes(facts, shape.max_logit_rows, c.vocab)});
  const TensorTable parameters = transformer_parameters(c);
  for (const TensorSpec& row : parameters.rows())
    if (is_packed(shape, row))
      bytes = std::max(bytes, packed_linear_workspace_bytes(
                                  packed_format(shape, row),
                                  std::max(shape.max_rows, shape.max_logit_rows), row.shape[1]));
  return bytes;
}

}  // namespace ingot
