// Inside optim: Muon (Jordan 2024), momentum whose update has all singular values near 1, by the
// Polar Express (Amsel et al. 2025, arXiv 2505.16932).
#pragma once

#include "core/context.h"
#include "parallel/shard/parameter_store.h"
#include "spec/tensor_table.h"

namespace ingot {

struct MuonStep {
  double lr = 0.0;
  double momentum = 0.95;
  double weight_decay = 0.0;
  double grad_scale = 1.0;  // multiplies the gradient: clipping and a loss scale folded in
};

// Updates a whole matrix, or each of the matrices stacked in it (`parts`), from the gradient in
// `shard`, whose moment1 is the momentum. Takes scratch from the context: see ops/muon_scratch.h.
void muon(Context& ctx, const MuonStep& step, const TensorSpec& parameter,
          const ParameterShard& shard);

}  // namespace ingot
