// GPU kernels of ops/muon.h; arguments are checked by the caller. All work goes to the context's
// stream.
#pragma once

#include "core/context.h"
#include "core/tensor.h"
#include "ops/muon.h"

namespace ingot::cuda {

void muon_momentum(Context& ctx, double beta, const UpdateScalars& scalars, const Tensor& grad,
                   const Tensor& m, const Tensor& u, const Tensor& squares);
void muon_normalize(Context& ctx, const Tensor& squares, double margin, const Tensor& u);
void muon_polynomial(Context& ctx, const MuonPolynomial& p, const Tensor& gram,
                     const Tensor& square, const Tensor& out);
void muon_apply(Context& ctx, double keep, double rate, const UpdateScalars& scalars,
                const Tensor& x, const Tensor& master);

}  // namespace ingot::cuda
