// Muon (Jordan 2024), momentum whose update has all singular values near 1, by the Polar Express
// (Amsel et al. 2025, arXiv 2505.16932).
#include "ops/muon.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ops/matmul.h"
#include "ops/reduce.h"
#include "optim/optimizer.h"
#include "spec/optimizer_states.h"

namespace ingot {
namespace {

// Each is the odd polynomial a·σ + b·σ³ + c·σ⁵ that lifts the smallest singular value most, given
// what the one before left: from σ in [0.001, 1] all end in [0.84, 1.13] (muon_test).
// The margin keeps rounding from carrying the largest σ beyond the range they are made for.
constexpr double kMargin = 1.01;
constexpr std::array<MuonPolynomial, 5> kPolarExpress = {{
    {8.28721201814563, -23.595886519098837, 17.300387312530933},
    {4.107059111542203, -2.9478499167379106, 0.5448431082926601},
    {3.9486908534822946, -2.908902115962949, 0.5518191394370137},
    {3.3184196573706015, -2.488488024314874, 0.51004894012372},
    {2.300652019954817, -1.6689039845747493, 0.4188073119525673},
}};

MuonPolynomial with_margin(const MuonPolynomial& p) {
  return {p.a / kMargin, p.b / std::pow(kMargin, 3), p.c / std::pow(kMargin, 5)};
}

struct Scratch {
  Tensor x, y;       // (rows, cols): the direction and its next form
  Tensor gram;       // (S, S), S the smaller extent: x·xᵀ, or xᵀ·x when x is tall
  Tensor square;     // (S, S): gram², then the polynomial of it
  Tensor squares;    // partial sums of the norm
  Tensor wide_gram;  // (S, S) wide, where it is needed
};

Scratch take_scratch(Context& ctx, DType compute, const MatrixShape& matrix) {
  std::vector<Tensor> taken;
  for (const ScratchSpec& row : muon_scratch(ctx.device.kind, compute, matrix))
    taken.push_back(ctx.workspace.take(row.dtype, row.shape));
  const int64_t partials = muon_num_partials(matrix.numel());
  return {taken[kMuonX],
          taken[kMuonY],
          taken[kMuonGram],
          taken[kMuonSquare],
          taken[kMuonPartials].slice(0, 0, partials),
          taken.size() > kMuonWideGram ? taken[kMuonWideGram] : Tensor{}};
}

void make_gram(Context& ctx, const MatrixShape& matrix, const Scratch& scratch) {
  const Tensor& x = scratch.x;
  if (!matrix.tall()) return linear_forward(ctx, x, x, scratch.gram);
  const bool narrow = scratch.wide_gram.defined();
  const Tensor& gram = narrow ? scratch.wide_gram : scratch.gram;
  linear_backward_weight(ctx, x, x, gram, Accumulate::No);
  if (narrow) cast(ctx, gram, scratch.gram);
}

// x, of Frobenius norm 1 at most, becomes nearly U·Vᵀ of its singular value decomposition U·Σ·Vᵀ.
void orthogonalize(Context& ctx, const MatrixShape& matrix, Scratch& scratch) {
  for (const MuonPolynomial& polynomial : kPolarExpress) {
    make_gram(ctx, matrix, scratch);
    linear_forward(ctx, scratch.gram, scratch.gram, scratch.square);  // symmetric: gram·gramᵀ
    // The a·1 goes into the factor, so that x is read by the product alone.
    const Tensor& factor = scratch.square;
    muon_polynomial(ctx, with_margin(polynomial), scratch.gram, scratch.square, factor);
    if (matrix.tall()) {
      linear_backward_input(ctx, scratch.x, factor, scratch.y, Accumulate::No);
    } else {
      linear_backward_input(ctx, factor, scratch.x, scratch.y, Accumulate::No);
    }
    std::swap(scratch.x, scratch.y);
  }
}

// A whole matrix, or each of the matrices stacked in it. The shard's one state is the momentum.
void update_parameter(Context& ctx, const OptimConfig& config, const UpdateInputs& inputs,
                      const TensorSpec& parameter, const ParameterShard& shard) {
  const double lr = config.lr > 0 ? config.muon_lr * (inputs.lr / config.lr) : 0.0;
  check(shard.range.size() == parameter.shape.numel(), ErrorCode::Internal,
        "muon: expected the whole of {}, got elements [{}, {})", parameter.name, shard.range.begin,
        shard.range.end);
  int64_t begin = 0;
  for (const MatrixShape& matrix : matrices_of(parameter)) {
    const int64_t n = matrix.numel();
    const auto part = [&](const Tensor& whole) { return whole.slice(0, begin, begin + n); };
    const Workspace::Scope scope(ctx.workspace);
    Scratch scratch = take_scratch(ctx, shard.weight.dtype, matrix);
    const Tensor direction = scratch.x.reshape({n});
    muon_momentum(ctx, config.muon_momentum, inputs.scalars, part(shard.gradient),
                  part(shard.states[0]), direction, scratch.squares);
    muon_normalize(ctx, scratch.squares, kMargin, direction);
    orthogonalize(ctx, matrix, scratch);
    // Of inputs whose elements have RMS 1, a wide orthogonal matrix makes outputs of about RMS 1, a
    // tall one of √(cols/rows): with this factor every layer's output changes alike.
    const double scale = std::sqrt(
        std::max(1.0, static_cast<double>(matrix.rows) / static_cast<double>(matrix.cols)));
    // This part of the gradient is in the momentum by now: exact weights may take its place.
    const Tensor exact = exact_weights(ctx, shard, begin, begin + n);
    muon_apply(ctx, 1.0 - lr * config.muon_weight_decay, lr * scale, inputs.scalars,
               scratch.x.reshape({n}), exact);
    begin += n;
  }
  take_exact_weights(ctx, shard);
}

class Muon final : public Optimizer {
 public:
  explicit Muon(const OptimConfig& config) : config_(config) {}
  void update(Context& ctx, const UpdateInputs& inputs,
              std::span<const OwnedShard> shards) override {
    for (const OwnedShard& one : shards)
      update_parameter(ctx, config_, inputs, *one.parameter, *one.shard);
  }

 private:
  const OptimConfig config_;
};

}  // namespace

std::unique_ptr<Optimizer> muon_optimizer(const OptimConfig& config, const PlacedTensors&) {
  return std::make_unique<Muon>(config);
}

}  // namespace ingot
