// The pointwise passes of Muon. Its products are those of ops/matmul.h; optim/muon.h puts both
// together. All tensors contiguous; "wide" is F32, or F64 where everything is F64.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/update/update_scalars.h"

namespace ingot {

// Partial sums that a direction of n elements is measured by, one for each run of
// muon_partial_elements(n) of them: a fixed cut, so that their sum is the same on any machine.
int64_t muon_partial_elements(int64_t n);
int64_t muon_num_partials(int64_t n);

// One pass over (n), none where the update is skipped: with g = scalars' factor · grad
//   m ← β·m + (1 - β)·g        u ← β·m + (1 - β)·g, with the new m (Nesterov)
//   squares(muon_num_partials(n)) ← Σ u² of each run, before u is rounded; undefined: not wanted
// grad, m and squares are wide, u is wide or BF16.
void muon_momentum(Context& ctx, double beta, const UpdateScalars& scalars, const Tensor& grad,
                   const Tensor& m, const Tensor& u, const Tensor& squares);

// The same squares of a direction that was put together from parts: of u as it is, so where u is
// wide the bits that muon_momentum leaves.
void muon_squares(Context& ctx, const Tensor& u, const Tensor& squares);

// u(n) ← u / (margin·√(Σ squares) + 1e-7), squares as either of them left them.
void muon_normalize(Context& ctx, const Tensor& squares, double margin, const Tensor& u);

struct MuonPolynomial {
  double a = 0, b = 0, c = 0;
};
// out = a·1 + b·gram + c·square, all (S, S) and of one dtype; out may be gram or square.
void muon_polynomial(Context& ctx, const MuonPolynomial& p, const Tensor& gram,
                     const Tensor& square, const Tensor& out);

// master(n) ← keep·master - rate·x, wide, unless the update is skipped; x(n) is wide or BF16.
void muon_apply(Context& ctx, double keep, double rate, const UpdateScalars& scalars,
                const Tensor& x, const Tensor& master);

}  // namespace ingot
