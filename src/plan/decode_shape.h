// What a decoder is to hold at once, and the shape that this gives it.
#pragma once

#include <cstdint>

#include "core/device/device_facts.h"
#include "spec/rows/decode_table.h"

namespace ingot {

struct ModelOptions {
  WeightFormat weights = WeightFormat::F32;
  int64_t context = 0;          // tokens of one sequence; 0 = the model's own
  int64_t max_sequences = 1;    // that are computed at once
  int64_t max_rows = 256;       // tokens of one step
  int64_t max_logit_rows = 64;  // of them, those whose logits are wanted: more only score prompts
  int64_t pages = 0;            // 0 = enough for max_sequences of the context
  // Allows a context beyond the model's own where positions are rotary: scores of long prompts.
  bool beyond_context = false;
};

// On a device with these facts, with the workspace that it needs. Throws ErrorCode::Usage for a
// context beyond the model's.
DecodeShape decode_shape(const DeviceFacts& facts, const ModelConfig& config,
                         const ModelOptions& options);

}  // namespace ingot
