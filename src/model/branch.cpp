#include "model/branch.h"

#include "ops/axpy.h"

namespace ingot {

void join_stream(Context& ctx, const Operand& y, const Affine<Operand>& w, const Tensor& stream,
                 const Tensor& next) {
  linear_forward(ctx, y, w, next, stream);
}

void join_normed(Context& ctx, const Tensor& out, const Affine<Operand>& norm, double eps,
                 const Tensor& rstd, const Tensor& stream, const Tensor& next) {
  norm_forward(ctx, out, norm, eps, next, rstd);
  axpy(ctx, 1.0, next, stream, next);
}

}  // namespace ingot
