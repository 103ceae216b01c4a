// How much scratch the ops of a step need on a device: that of the largest op, since one runs at a
// time.
#pragma once

#include <cstdint>

#include "core/device/device_facts.h"
#include "spec/rows/decode_table.h"
#include "spec/rows/transformer_table.h"
#include "spec/run/run_config.h"

namespace ingot {

// For forward and backward pass, without the output head, which TrainShape has apart.
int64_t train_workspace_bytes(const DeviceFacts& facts, bool deterministic,
                              const ModelConfig& model, const TrainShape& shape);
int64_t head_workspace_bytes(const DeviceFacts& facts, const ModelConfig& model,
                             const TrainShape& shape);

// For the optimizer's update, on the rank of `layout` that needs most.
int64_t update_workspace_bytes(const DeviceFacts& facts, DType compute,
                               const TensorTable& parameters, const OptimConfig& optim,
                               const Layout& layout);

// For decoding. Does not read shape.workspace_bytes.
int64_t decode_workspace_bytes(const DeviceFacts& facts, const ModelConfig& model,
                               const DecodeShape& shape);

}  // namespace ingot
