// Muon (Jordan 2024), momentum whose update has all singular values near 1.
#include "optim/muon.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error/error.h"
#include "ops/update/muon.h"
#include "optim/polar.h"

namespace ingot {
namespace {

PolarTensors take_scratch(Context& ctx, DType compute, const MatrixShape& matrix) {
  std::vector<Tensor> taken;
  for (const ScratchSpec& row : muon_scratch(ctx.device.kind, compute, matrix))
    taken.push_back(ctx.workspace.take(row.dtype, row.shape));
  const int64_t partials = muon_num_partials(matrix.numel());
  return {taken[kMuonX],
          taken[kMuonY],
          taken[kMuonGram],
          taken[kMuonSquare],
          taken[kMuonPartials].slice(0, 0, partials),
          taken.size() > kMuonAccGram ? taken[kMuonAccGram] : Tensor{}};
}

// A whole matrix, or each of the matrices stacked in it. The shard's one state is the momentum.
void update_parameter(Context& ctx, const OptimConfig& config, const UpdateInputs& inputs,
                      const TensorSpec& parameter, const ParameterShard& shard) {
  check(shard.range.size() == parameter.shape.numel(), ErrorCode::Internal,
        "muon: expected the whole of {}, got elements [{}, {})", parameter.name, shard.range.begin,
        shard.range.end);
  int64_t begin = 0;
  for (const MatrixShape& matrix : matrices_of(parameter)) {
    const int64_t n = matrix.numel();
    const auto part = [&](const Tensor& whole) { return whole.slice(0, begin, begin + n); };
    const Workspace::Scope scope(ctx.workspace);
    const PolarTensors scratch = take_scratch(ctx, shard.weight.dtype, matrix);
    muon_momentum(ctx, config.muon_momentum, inputs.scalars, part(shard.gradient),
                  part(shard.states[0]), scratch.x.reshape({n}), scratch.squares);
    orthogonalize(ctx, matrix, scratch);
    const auto [keep, rate] = muon_rates(config, inputs.lr, matrix);
    // This part of the gradient is in the momentum by now: exact weights may take its place.
    const Tensor exact = exact_weights(ctx, shard, begin, begin + n);
    muon_apply(ctx, keep, rate, inputs.scalars, scratch.y.reshape({n}), exact);
    begin += n;
  }
  take_exact_weights(ctx, shard);
}

class WholeMuon final : public Optimizer {
 public:
  explicit WholeMuon(const OptimConfig& config) : config_(config) {}
  void update(Context& ctx, const UpdateInputs& inputs,
              std::span<const OwnedShard> shards) override {
    for (const OwnedShard& one : shards)
      update_parameter(ctx, config_, inputs, *one.parameter, *one.shard);
  }

 private:
  const OptimConfig config_;
};

}  // namespace

MuonRates muon_rates(const OptimConfig& config, double lr, const MatrixShape& matrix) {
  const double own_lr = config.lr > 0 ? config.muon_lr * (lr / config.lr) : 0.0;
  // Of inputs whose elements have RMS 1, a wide orthogonal matrix makes outputs of about RMS 1, a
  // tall one of √(cols/rows): with this factor every layer's output changes alike.
  const double scale =
      std::sqrt(std::max(1.0, static_cast<double>(matrix.rows) / static_cast<double>(matrix.cols)));
  return {1.0 - own_lr * config.muon_weight_decay, own_lr * scale};
}

std::unique_ptr<Optimizer> muon_optimizer(const OptimizerSetup& setup) {
  if (setup.shard_group.size() > 1) return sliced_muon(setup);
  return std::make_unique<WholeMuon>(setup.config);
}

}  // namespace ingot
