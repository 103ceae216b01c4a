// How much scratch the ops of a step ask for: the largest, since one runs at a time.
#include <algorithm>

#include "model/decoder.h"
#include "model/transformer.h"
#include "ops/attention.h"
#include "ops/embedding.h"
#include "ops/fp8.h"
#include "ops/lm_head.h"
#include "ops/matmul.h"
#include "ops/rms_norm.h"

namespace ingot {

int64_t train_workspace_bytes(const Context& ctx, const ModelConfig& c, const TrainShape& shape) {
  const int64_t N = shape.B * shape.T;
  const bool whole_rows =
      !c.qk_norm && (c.window == 0 || c.window >= shape.T) && !shape.document_mask;
  return std::max(
      {matmul_workspace_bytes(ctx),
       attention_workspace_bytes(ctx, shape.compute, shape.B, shape.T, shape.T, c.heads, c.kv_heads,
                                 c.head_dim,
                                 whole_rows ? AttentionCalls::WholeRows : AttentionCalls::Any),
       embedding_backward_workspace_bytes(ctx, N, c.vocab),
       rms_norm_backward_workspace_bytes(ctx, N, c.dim),
       rms_norm_backward_workspace_bytes(ctx, N * c.heads, c.head_dim),
       shape.fp8 ? fp8_workspace_bytes(ctx, shape.compute, N, std::max(c.up_rows(), c.qkv_rows()))
                 : 0});
}

int64_t head_workspace_bytes(const Context& ctx, const ModelConfig& c, const TrainShape& shape) {
  const int64_t chunk = std::min(shape.loss_chunk, shape.B * shape.T);
  return shape.fp8_head ? lm_head_fp8_workspace_bytes(ctx, shape.compute, chunk, c.vocab, c.dim)
                        : lm_head_workspace_bytes(ctx, shape.compute, chunk, c.vocab);
}

int64_t infer_workspace_bytes(const Context& ctx, const ModelConfig& c, DType compute,
                              int64_t context, int64_t chunk) {
  return std::max(
      matmul_workspace_bytes(ctx),
      attention_workspace_bytes(ctx, compute, 1, chunk, context, c.heads, c.kv_heads, c.head_dim));
}

}  // namespace ingot
