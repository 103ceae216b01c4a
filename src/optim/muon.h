// Inside optim: Muon's two forms. One rank, or replicas, have whole matrices; ranks that share the
// parameters hold slices of them.
#pragma once

#include <memory>

#include "optim/optimizer.h"
#include "spec/rows/optimizer_states.h"

namespace ingot {

// W ← keep·W - rate·X, X the orthogonal direction of `matrix`, at `lr` of optim.lr's schedule.
struct MuonRates {
  double keep = 1.0, rate = 0.0;
};
MuonRates muon_rates(const OptimConfig& config, double lr, const MatrixShape& matrix);

std::unique_ptr<Optimizer> sliced_muon(const OptimizerSetup& setup);

}  // namespace ingot
