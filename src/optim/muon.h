// Internal to optim: the two forms of Muon. A single rank, or replicas, have unsharded matrices;
// ranks that shard the parameters hold slices of them.
#pragma once

#include <memory>

#include "optim/optimizer.h"
#include "spec/rows/optimizer_states.h"

namespace ingot {

// W ← keep·W - rate·X, where X is the orthogonalised direction of `matrix`, at learning rate `lr`.
struct MuonRates {
  double keep = 1.0, rate = 0.0;
};
MuonRates muon_rates(const OptimConfig& config, double lr, const MatrixShape& matrix);

std::unique_ptr<Optimizer> sliced_muon(const OptimizerSetup& setup);

}  // namespace ingot
