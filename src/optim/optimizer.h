// Updates the shards this rank owns.
#pragma once

#include <cstdint>

#include "core/context.h"
#include "parallel/comm/communicator.h"
#include "parallel/shard/parameter_store.h"
#include "spec/run_config.h"
#include "spec/tensor_table.h"

namespace ingot {

struct UpdateReport {
  double grad_norm = 0.0;   // global, before clipping
  double clip_scale = 1.0;  // what the gradient was multiplied with
};

// Updates by config.kind and role: Muon or AdamW for matrices, AdamW for the rest; norms are not
// decayed. Gradients must be finished; weights are published after. `lr` is AdamW's at this step;
// Muon's is the same fraction of its peak. `step` counts updates from 1. Throws ErrorCode::Numeric
// (radius step) and changes nothing when the gradient norm is not finite.
UpdateReport update_parameters(Context& ctx, Communicator& comm, const TensorTable& parameters,
                               ParameterStore& store, const OptimConfig& config, double lr,
                               int64_t step);

// Scratch that an update takes from the context.
int64_t update_workspace_bytes(const Context& ctx, const TensorTable& parameters,
                               const OptimConfig& config);

}  // namespace ingot
