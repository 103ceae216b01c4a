#include "spec/model/flops.h"

#include <algorithm>

namespace ingot {

double causal_keys(int64_t T, int64_t window) {
  const auto length = static_cast<double>(T);
  const double seen = window > 0 ? std::min(static_cast<double>(window), length) : length;
  return seen * (1.0 - seen / (2.0 * length));
}

double train_flops_per_token(const ModelConfig& c, int64_t T, AttentionFlops convention) {
  double keys = 0.0;
  for (int64_t layer = 0; layer < c.layers; ++layer)
    keys += convention == AttentionFlops::Causal ? causal_keys(T, c.window_of(layer))
                                                 : static_cast<double>(T);
  // Scores and weighted values: 2 GEMMs of 2·H·D FLOPs per key forward, twice that backward.
  return 6.0 * static_cast<double>(matmul_parameters(c)) +
         12.0 * static_cast<double>(c.heads * c.head_dim) * keys;
}

int64_t matmul_parameters(const ModelConfig& c) {
  const int64_t attention = c.qkv_rows() * c.dim + c.dim * c.heads * c.head_dim;
  const int64_t mlp = c.up_rows() * c.dim + c.dim * c.ffn;
  return c.layers * (attention + mlp) + c.vocab * c.dim;
}

}  // namespace ingot
