// Estimates the fastest possible training step on this machine: every GEMM and the attention timed
// alone, plus the bytes of everything else at copy speed. A step that runs them one after another
// is not faster; one that fuses an elementwise pass into a GEMM saves bytes that are counted here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/device/context.h"
#include "spec/run/run_config.h"

namespace ingot {

struct LimitPart {
  std::string name;      // "qkv forward", "attention backward", "optimizer"
  int64_t calls = 0;     // in one step
  double seconds = 0.0;  // all calls together
  double flops = 0.0;
  double bytes = 0.0;
};

struct StepLimit {
  std::vector<LimitPart> parts;
  double gemm_seconds = 0.0;    // GEMMs and attention
  double memory_seconds = 0.0;  // the other bytes at copy speed
  double peak_flops = 0.0;      // measure_peak_flops()
  double copy_bytes_per_second = 0.0;
  double tokens_per_second = 0.0;  // the limit: B·T / (GEMM + memory time)
  double gemm_share = 0.0;         // rate of the GEMMs alone / peak_flops
};

struct LimitShape {
  int64_t B = 1, T = 1;  // sequences of a micro-batch, tokens of a sequence
  int64_t loss_chunk = 512;
  DType compute = DType::F32;  // weights and activations; F32 or BF16
  bool fp8 = false;            // the layers' GEMMs use 8-bit operands
  bool fp8_head = false;       // and the head's GEMMs
  OptimConfig optim = {};      // its states are counted; its GEMMs are not
};

// One micro-batch without recomputation, over whole sequences, and one update on ctx's device;
// weight gradients are F32. With F32 every pass of our step counts. With BF16 the optimizer's bytes
// are ours and all others (norms, rotations, activations) are those of PyTorch's limit on the same
// GPU, so that the two are comparable. Takes a few seconds.
StepLimit measure_step_limit(Context& ctx, const ModelConfig& config, const LimitShape& shape);

}  // namespace ingot
