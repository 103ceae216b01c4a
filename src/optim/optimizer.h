// Updates the shards this rank owns.
#pragma once

#include <cstdint>
#include <optional>

#include "core/context.h"
#include "parallel/comm/communicator.h"
#include "parallel/shard/parameter_store.h"
#include "spec/run_config.h"
#include "spec/tensor_table.h"

namespace ingot {

struct UpdateStep {
  double lr = 0.0;    // AdamW's; Muon's is the same fraction of its peak
  int64_t step = 1;   // counts updates from 1
  uint64_t seed = 0;  // of the rounding of BF16 moments
  // What the loss, and so every gradient, was multiplied with; nothing: it was not.
  std::optional<double> loss_scale = std::nullopt;
};

struct UpdateReport {
  double grad_norm = 0.0;   // global, of the loss as it is, before clipping
  double clip_scale = 1.0;  // what the gradient was multiplied with to clip it
  bool skipped = false;     // nothing was updated: the norm of a scaled loss was not finite
};

// Updates by config.kind and role: Muon or AdamW for matrices, AdamW for the rest; norms are not
// decayed. Gradients must be finished; weights are published after. A gradient norm that is not
// finite changes nothing: under a loss scale, which may have been too large, the report says so;
// otherwise ErrorCode::Numeric (radius step) is thrown.
UpdateReport update_parameters(Context& ctx, Communicator& comm, const TensorTable& parameters,
                               ParameterStore& store, const OptimConfig& config,
                               const UpdateStep& step);

}  // namespace ingot
