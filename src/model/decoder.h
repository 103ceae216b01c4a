// The same transformer, run forward on new tokens only, with a KV cache.
#pragma once

#include <span>
#include <vector>

#include "core/context.h"
#include "spec/llama_table.h"
#include "spec/placed_tensors.h"

namespace ingot {

// Weights, cache and activations are rows of llama_infer_table in `placed`, which must outlive it.
class Decoder {
 public:
  Decoder(Context& ctx, const ModelConfig& config, int64_t context, int64_t chunk,
          const PlacedTensors& placed);

  // Appends `tokens` to the sequence and returns the logits (V) after the last one; the span is
  // valid until the next call. Throws ErrorCode::Usage when the sequence would outgrow the context.
  std::span<const float> append(std::span<const int32_t> tokens);

  int64_t length() const { return length_; }
  void reset() { length_ = 0; }

 private:
  void append_chunk(std::span<const int32_t> tokens);

  Context& ctx_;
  ModelConfig config_;
  int64_t context_;
  int64_t chunk_;
  const PlacedTensors& placed_;
  int64_t length_ = 0;
  std::vector<float> logits_;
};

int64_t infer_workspace_bytes(const ModelConfig& config, DType compute, int64_t context,
                              int64_t chunk, int num_threads);

}  // namespace ingot
