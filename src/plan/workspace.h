// How much scratch the ops of a step ask for on a device: the largest, since one runs at a time.
#pragma once

#include <cstdint>

#include "core/device/device_facts.h"
#include "spec/rows/decode_table.h"
#include "spec/rows/transformer_table.h"
#include "spec/run/run_config.h"

namespace ingot {

// Of forward and backward pass, but the output head's, which is apart in TrainShape.
int64_t train_workspace_bytes(const DeviceFacts& facts, bool deterministic,
                              const ModelConfig& model, const TrainShape& shape);
int64_t head_workspace_bytes(const DeviceFacts& facts, const ModelConfig& model,
                             const TrainShape& shape);

// Of the optimizer's update, on the rank of `layout` that takes most.
int64_t update_workspace_bytes(const DeviceFacts& facts, DType compute,
                               const TensorTable& parameters, const OptimConfig& optim,
                               const Layout& layout);

// Of decoding, but for shape.workspace_bytes.
int64_t decode_workspace_bytes(const DeviceFacts& facts, const ModelConfig& model,
                               const DecodeShape& shape);

}  // namespace ingot
