// Model FLOPs in the two common conventions. Neither counts recomputation.
#pragma once

#include <cstdint>

#include "spec/model/model_config.h"

namespace ingot {

enum class AttentionFlops { Causal, Full };

// Average number of keys per query, of T under a causal mask: T/2, or fewer with a window (0 =
// none).
double causal_keys(int64_t T, int64_t window);

// Forward + backward FLOPs per trained token at sequence length T:
// 6·(matmul parameters incl. head, embedding lookup excluded) + 12·heads·head_dim·keys over all
// layers, where keys are those of causal_keys() or all T (full).
double train_flops_per_token(const ModelConfig& config, int64_t T, AttentionFlops convention);

int64_t matmul_parameters(const ModelConfig& config);

}  // namespace ingot
