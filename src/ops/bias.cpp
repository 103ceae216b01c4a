#include "ops/bias.h"

#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/kernels/bias.h"

namespace ingot {

void add_bias(Context& ctx, const Tensor& x, const Tensor& bias) {
  check_rank("add_bias", "x", x, 2);
  check_operand("add_bias", "x", x, x.shape, x.dtype);
  check_operand("add_bias", "bias", bias, {x.shape[1]}, x.dtype);
  INGOT_DISPATCH(x, add_bias, ctx, x, bias);
}

void bias_gradient(Context& ctx, const Tensor& dy, const Tensor& dbias) {
  check_rank("bias_gradient", "dy", dy, 2);
  check_operand("bias_gradient", "dy", dy, dy.shape, dy.dtype);
  check_operand("bias_gradient", "dbias", dbias, {dy.shape[1]}, accumulation_dtype(dy.dtype));
  INGOT_DISPATCH(dy, bias_gradient, ctx, dy, dbias);
}

int64_t bias_gradient_workspace_bytes(const DeviceFacts& facts, int64_t num_rows, int64_t width) {
  if (facts.kind != DeviceKind::Cuda) return 0;
  return align_up(cuda::column_parts(num_rows) * width * size_of(DType::F64));
}

}  // namespace ingot
