// How much scratch the ops of a step ask for: the largest, since one runs at a time.
#include <algorithm>

#include "model/decoder.h"
#include "model/transformer.h"
#include "ops/attention.h"
#include "ops/embedding.h"
#include "ops/lm_head.h"
#include "ops/matmul.h"
#include "ops/rms_norm.h"

namespace ingot {
namespace {

// Largest x + w + y elements among the products on N rows.
int64_t largest_product(const ModelConfig& c, int64_t N) {
  auto elements = [&](int64_t rows, int64_t columns) {
    return N * columns + rows * columns + N * rows;
  };
  return std::max({elements(c.qkv_rows(), c.dim), elements(c.dim, c.heads * c.head_dim),
                   elements(c.up_rows(), c.dim), elements(c.dim, c.ffn)});
}

}  // namespace

int64_t train_workspace_bytes(const ModelConfig& c, const TrainShape& shape, int num_threads) {
  const int64_t N = shape.B * shape.T;
  const int64_t chunk = std::min(shape.loss_chunk, N);
  return std::max({matmul_workspace_bytes(shape.compute, largest_product(c, N)),
                   attention_workspace_bytes(shape.compute, shape.B, shape.T, shape.T, c.heads,
                                             c.kv_heads, c.head_dim, num_threads),
                   lm_head_workspace_bytes(shape.compute, chunk, c.vocab, c.dim),
                   embedding_backward_workspace_bytes(N, c.vocab),
                   rms_norm_backward_workspace_bytes(N, c.dim),
                   rms_norm_backward_workspace_bytes(N * c.heads, c.head_dim)});
}

int64_t infer_workspace_bytes(const ModelConfig& c, DType compute, int64_t context, int64_t chunk,
                              int num_threads) {
  const int64_t head = c.dim + c.vocab * c.dim + c.vocab;
  return std::max({matmul_workspace_bytes(compute, std::max(largest_product(c, chunk), head)),
                   attention_workspace_bytes(compute, 1, chunk, context, c.heads, c.kv_heads,
                                             c.head_dim, num_threads)});
}

}  // namespace ingot
