#include "optim/polar.h"

#include <array>
#include <cmath>
#include <utility>

#include "ops/matmul.h"
#include "ops/reduce.h"
#include "ops/update/muon.h"

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
static_assert(kPolarExpress.size() % 2 == 1, "the last step leaves its result in y");

MuonPolynomial with_margin(const MuonPolynomial& p) {
  return {p.a / kMargin, p.b / std::pow(kMargin, 3), p.c / std::pow(kMargin, 5)};
}

void make_gram(Context& ctx, const MatrixShape& matrix, const PolarTensors& t) {
  if (!matrix.tall()) return linear_forward(ctx, t.x, t.x, t.gram);
  const bool narrow = t.acc_gram.defined();
  const Tensor& gram = narrow ? t.acc_gram : t.gram;
  linear_backward_weight(ctx, t.x, t.x, gram, Accumulate::No);
  if (narrow) cast(ctx, gram, t.gram);
}

}  // namespace

void orthogonalize(Context& ctx, const MatrixShape& matrix, PolarTensors t) {
  muon_normalize(ctx, t.squares, kMargin, t.x.reshape({matrix.numel()}));
  for (const MuonPolynomial& polynomial : kPolarExpress) {
    make_gram(ctx, matrix, t);
    linear_forward(ctx, t.gram, t.gram, t.square);  // symmetric: gram·gramᵀ
    // The a·1 is part of the factor, so that only the GEMM reads x.
    const Tensor& factor = t.square;
    muon_polynomial(ctx, with_margin(polynomial), t.gram, t.square, factor);
    if (matrix.tall()) {
      linear_backward_input(ctx, t.x, factor, t.y, Accumulate::No);
    } else {
      linear_backward_input(ctx, factor, t.x, t.y, Accumulate::No);
    }
    std::swap(t.x, t.y);
  }
}

}  // namespace ingot
