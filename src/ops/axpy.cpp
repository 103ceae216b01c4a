#include "ops/axpy.h"

#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/kernels/axpy.h"

namespace ingot {

void axpy(Context& ctx, double factor, const Tensor& x, const Tensor& y, const Tensor& out) {
  check_operand("axpy", "x", x, x.shape, x.dtype);
  check_operand("axpy", "out", out, x.shape, x.dtype);
  if (y.defined()) check_operand("axpy", "y", y, x.shape, x.dtype);
  INGOT_DISPATCH(x, axpy, ctx, factor, x, y, out);
}

}  // namespace ingot
