// Kernels of ops/update/muon.h.
#pragma once

#include "ops/common/kernel.h"
#include "ops/update/muon.h"

namespace ingot {

INGOT_KERNEL(void, muon_momentum,
             (Context & ctx, double beta, const UpdateScalars& scalars, const Tensor& grad,
              const Tensor& m, const Tensor& u, const Tensor& squares))
INGOT_KERNEL(void, muon_squares, (Context & ctx, const Tensor& u, const Tensor& squares))
INGOT_KERNEL(void, muon_normalize,
             (Context & ctx, const Tensor& squares, double margin, const Tensor& u))
INGOT_KERNEL(void, muon_polynomial,
             (Context & ctx, const MuonPolynomial& p, const Tensor& gram, const Tensor& square,
              const Tensor& out))
INGOT_KERNEL(void, muon_apply,
             (Context & ctx, double keep, double rate, const UpdateScalars& scalars,
              const Tensor& x, const Tensor& master))

}  // namespace ingot
