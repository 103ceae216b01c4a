// Model FLOPs, in the two conventions people quote. Neither counts recomputation.
#pragma once

#include <cstdint>

#include "spec/model_config.h"

namespace ingot {

enum class AttentionFlops { Causal, Full };

// Forward + backward FLOPs per trained token at sequence length T:
// 6·(matmul parameters incl. head, embedding lookup excluded) + 6·L·heads·head_dim·T (causal) or
// twice that attention term (full).
double train_flops_per_token(const ModelConfig& config, int64_t T, AttentionFlops convention);

int64_t matmul_parameters(const ModelConfig& config);

}  // namespace ingot
