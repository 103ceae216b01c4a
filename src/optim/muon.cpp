#include "optim/muon.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ops/matmul.h"
#include "ops/muon.h"
#include "ops/muon_scratch.h"
#include "ops/reduce.h"
#include "spec/matrix_parts.h"

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

void make_gram(Context& ctx, const MatrixShape& matrix, const MuonScratch& scratch) {
  const Tensor& x = scratch.x;
  if (!matrix.tall()) return linear_forward(ctx, x, x, scratch.gram);
  const bool narrow = scratch.wide_gram.defined();
  const Tensor& gram = narrow ? scratch.wide_gram : scratch.gram;
  linear_backward_weight(ctx, x, x, gram, Accumulate::No);
  if (narrow) cast(ctx, gram, scratch.gram);
}

// x, of Frobenius norm 1 at most, becomes nearly U·Vᵀ of its singular value decomposition U·Σ·Vᵀ.
void orthogonalize(Context& ctx, const MatrixShape& matrix, MuonScratch& scratch) {
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

}  // namespace

void muon(Context& ctx, const MuonStep& step, const TensorSpec& parameter,
          const ParameterShard& shard) {
  check(shard.range.size() == parameter.shape.numel(), ErrorCode::Internal,
        "muon: expected the whole of {}, got elements [{}, {})", parameter.name, shard.range.begin,
        shard.range.end);
  int64_t begin = 0;
  for (const MatrixShape& matrix : matrices_of(parameter)) {
    const int64_t n = matrix.numel();
    const auto part = [&](const Tensor& whole) { return whole.slice(0, begin, begin + n); };
    const Workspace::Scope scope(ctx.workspace);
    MuonScratch scratch = muon_scratch(
        ctx.facts, matrix.rows, matrix.cols,
        [&](DType dtype, const Shape& shape) { return ctx.workspace.take(dtype, shape); });
    const Tensor direction = scratch.x.reshape({n});
    muon_momentum(ctx, step.momentum, step.grad_scale, part(shard.gradient), part(shard.moment1),
                  direction, scratch.squares);
    muon_normalize(ctx, scratch.squares, kMargin, direction);
    orthogonalize(ctx, matrix, scratch);
    // Of inputs whose elements have RMS 1, a wide orthogonal matrix makes outputs of about RMS 1, a
    // tall one of √(cols/rows): with this factor every layer's output changes alike.
    const double scale = std::sqrt(
        std::max(1.0, static_cast<double>(matrix.rows) / static_cast<double>(matrix.cols)));
    // This part of the gradient is in the momentum by now: exact weights may take its place.
    const Tensor exact = exact_weights(ctx, shard, begin, begin + n);
    muon_apply(ctx, 1.0 - step.lr * step.weight_decay, step.lr * scale, scratch.x.reshape({n}),
               exact);
    begin += n;
  }
  take_exact_weights(ctx, shard);
}

}  // namespace ingot
