// One micro-batch on the device: a slot's input rows, with attention and RoPE inputs for the
// layers.
#pragma once

#include <cstdint>
#include <vector>

#include "core/device/context.h"
#include "ops/attention.h"
#include "ops/rope.h"
#include "spec/rows/transformer_table.h"
#include "spec/table/placed_tensors.h"

namespace ingot {

// One micro-batch in host memory; the model copies it into its input rows.
struct MicroBatch {
  const int32_t* tokens = nullptr;          // (B, T)
  const int32_t* targets = nullptr;         // (B, T); kNoTarget contributes no loss
  const int32_t* document_start = nullptr;  // (B, T), required if the shape has a document mask
};
inline constexpr int32_t kNoTarget = -1;

class BatchInput {
 public:
  // Uses rows of transformer_train_table in `placed`. `ctx` must outlive it.
  BatchInput(Context& ctx, const ModelConfig& config, const TrainShape& shape,
             const PlacedTensors& placed, int64_t slot);

  // Throws ErrorCode::Data if an id is outside the vocabulary. `batch` may be freed after the call.
  void load(const MicroBatch& batch);

  const Tensor& tokens() const { return tokens_; }    // (N)
  const Tensor& targets() const { return targets_; }  // (N)
  // (N), each token's position in its document; only with a document mask or learned positions.
  Tensor positions() const { return positions_row_.reshape({N_}); }
  const RopeInput& rope() const { return rope_; }
  // With or without the model's window.
  const AttentionOptions& attention(bool windowed) const {
    return windowed ? attention_ : unwindowed_;
  }

 private:
  void check_ids(const MicroBatch& batch) const;

  Context& ctx_;
  int64_t vocab_, N_, T_;
  Tensor tokens_, targets_;
  Tensor positions_row_;  // (B, T) I32
  RopeInput rope_;
  AttentionOptions attention_, unwindowed_;
  std::vector<int32_t> positions_;  // (B, T), restarts at each document
};

}  // namespace ingot
