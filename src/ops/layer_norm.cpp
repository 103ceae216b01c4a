#include "ops/layer_norm.h"

#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/kernels/bias.h"
#include "ops/kernels/layer_norm.h"
#include "ops/kernels/rms_norm.h"

namespace ingot {
namespace {

void check_rows(const char* op, const char* name, const Tensor& rows, const Tensor& x) {
  check_float(op, name, rows);
  check_dtype(op, name, rows, x.dtype);
  check_shape(op, name, rows, x.shape);
}

void check_norm(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                const Tensor& rstd) {
  check_rank(op, "x", x, 2);
  check_rows(op, "x", x, x);
  check_operand(op, "weight", weight, {x.shape[1]}, x.dtype);
  check_operand(op, "bias", bias, {x.shape[1]}, x.dtype);
  check_operand(op, "rstd", rstd, {x.shape[0]}, accumulation_dtype(x.dtype));
}

}  // namespace

void layer_norm_forward(Context& ctx, const Tensor& x, const Tensor& weight, const Tensor& bias,
                        double eps, const Tensor& y, const Tensor& rstd) {
  check_norm("layer_norm_forward", x, weight, bias, rstd);
  check_rows("layer_norm_forward", "y", y, x);
  INGOT_DISPATCH(x, layer_norm_forward, ctx, x, weight, bias, eps, y, rstd);
}

void layer_norm_backward(Context& ctx, const LayerNormBackward& n) {
  constexpr const char* kOp = "layer_norm_backward";
  check_norm(kOp, n.x, n.weight, n.bias, n.rstd);
  check_rows(kOp, "dy", n.dy, n.x);
  check_rows(kOp, "dx", n.dx, n.x);
  check(!n.accumulate_dx || n.dx.data != n.dy.data, ErrorCode::Internal,
        "{}: dx must be another buffer than dy to accumulate", kOp);
  check_operand(kOp, "dweight", n.dweight, n.weight.shape, accumulation_dtype(n.x.dtype));
  check_operand(kOp, "dbias", n.dbias, n.weight.shape, accumulation_dtype(n.x.dtype));
  if (n.y.defined()) {
    check_rows(kOp, "y", n.y, n.x);
    check(n.y.data != n.dy.data && n.y.data != n.dx.data, ErrorCode::Internal,
          "{}: y must be another buffer than dy and dx", kOp);
  }
  INGOT_DISPATCH(n.x, layer_norm_backward, ctx, n);
}

int64_t layer_norm_backward_workspace_bytes(const DeviceFacts& facts, int64_t num_rows,
                                            int64_t width) {
  const int64_t size = size_of(DType::F64);
  if (facts.kind == DeviceKind::Cuda)
    return align_up(num_rows * size) + align_up(2 * cuda::column_parts(num_rows) * width * size);
  const int64_t rows = cpu::rms_norm_rows_per_chunk(num_rows);
  return align_up(2 * ((num_rows + rows - 1) / rows) * width * size);
}

}  // namespace ingot
