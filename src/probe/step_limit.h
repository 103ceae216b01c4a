// How fast a training step could be on this machine: every product and the attention timed alone,
// plus the bytes of everything else at copy speed. No schedule of these operations runs faster.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/context.h"
#include "spec/model_config.h"

namespace ingot {

struct LimitPart {
  std::string name;      // "qkv forward", "attention backward", "optimizer bytes"
  int64_t calls = 0;     // in one step
  double seconds = 0.0;  // all calls together
  double flops = 0.0;
  double bytes = 0.0;
};

struct StepLimit {
  std::vector<LimitPart> parts;
  double product_seconds = 0.0;  // products and attention
  double memory_seconds = 0.0;   // the remaining bytes at copy speed
  double peak_flops = 0.0;       // best product rate of the machine
  double copy_bytes_per_second = 0.0;
  double tokens_per_second = 0.0;  // the limit: B·T / (products + memory)
  double product_share = 0.0;      // rate the products reach alone / peak_flops
};

// F32, one micro-batch of B sequences of T tokens and one optimizer step. Takes a few seconds.
StepLimit measure_step_limit(Context& ctx, const ModelConfig& config, int64_t B, int64_t T,
                             int64_t loss_chunk);

}  // namespace ingot
