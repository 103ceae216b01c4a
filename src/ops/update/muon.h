// The pointwise passes of Muon. Its GEMMs are those of ops/matmul.h; optim/muon.h combines both.
// All tensors are contiguous. The accumulation dtype ("acc") is F32, or F64 if all is F64.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/update/update_scalars.h"

namespace ingot {

// Elements per partial sum of the norm of a direction of n elements. The partition is fixed, so
// that the sum is the same on every machine.
int64_t muon_partial_elements(int64_t n);
int64_t muon_num_partials(int64_t n);

// One pass over (n); does nothing if the update is skipped. With g = scalars' factor · grad:
//   m ← β·m + (1 - β)·g        u ← β·m + (1 - β)·g, with the new m (Nesterov)
//   squares(muon_num_partials(n)) ← Σ u² of each run, before u is rounded; may be undefined
// grad, m and squares are acc; u is acc or BF16.
void muon_momentum(Context& ctx, double beta, const UpdateScalars& scalars, const Tensor& grad,
                   const Tensor& m, const Tensor& u, const Tensor& squares);

// The same squares for a direction assembled from parts. If u is acc, the bits equal those of
// muon_momentum.
void muon_squares(Context& ctx, const Tensor& u, const Tensor& squares);

// u(n) ← u / (margin·√(Σ squares) + 1e-7), with squares from muon_momentum or muon_squares.
void muon_normalize(Context& ctx, const Tensor& squares, double margin, const Tensor& u);

struct MuonPolynomial {
  double a = 0, b = 0, c = 0;
};
// out = a·1 + b·gram + c·square, all (S, S) and of one dtype; out may be gram or square.
void muon_polynomial(Context& ctx, const MuonPolynomial& p, const Tensor& gram,
                     const Tensor& square, const Tensor& out);

// master(n) ← keep·master - rate·x, unless the update is skipped. master is acc; x(n) is acc or
// BF16.
void muon_apply(Context& ctx, double keep, double rate, const UpdateScalars& scalars,
                const Tensor& x, const Tensor& master);

}  // namespace ingot
