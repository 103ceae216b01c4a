// From what a decoder must hold at once to the shape of its tensors.
#pragma once

#include <cstdint>

#include "core/device/device_facts.h"
#include "spec/rows/decode_table.h"

namespace ingot {

struct ModelOptions {
  WeightFormat weights = WeightFormat::F32;
  int64_t context = 0;          // tokens of one sequence; 0 = the model's own
  int64_t max_sequences = 1;    // computed at once
  int64_t max_rows = 256;       // tokens of one step
  int64_t max_logit_rows = 64;  // tokens of a step with logits; only scoring prompts needs many
  int64_t pages = 0;            // 0 = enough for max_sequences full contexts
  // Allows a context beyond the model's own if positions are rotary, to score long prompts.
  bool beyond_context = false;
};

// The shape on a device with these facts, its workspace included. Throws ErrorCode::Usage for a
// context beyond the model's.
DecodeShape decode_shape(const DeviceFacts& facts, const ModelConfig& config,
                         const ModelOptions& options);

}  // namespace ingot
