#include "spec/flops.h"

namespace ingot {

double train_flops_per_token(const ModelConfig& c, int64_t T, AttentionFlops convention) {
  // Scores and weighted values: 2 products of 2·H·D·T FLOPs forward, twice that backward; a causal
  // query sees half of the keys on average.
  const double causal = 6.0 * static_cast<double>(c.layers * c.heads * c.head_dim * T);
  const double attention = convention == AttentionFlops::Causal ? causal : 2.0 * causal;
  return 6.0 * static_cast<double>(matmul_parameters(c)) + attention;
}

int64_t matmul_parameters(const ModelConfig& c) {
  const int64_t attention = c.qkv_rows() * c.dim + c.dim * c.heads * c.head_dim;
  const int64_t mlp = c.up_rows() * c.dim + c.dim * c.ffn;
  return c.layers * (attention + mlp) + c.vocab * c.dim;
}

}  // namespace ingot
