#include "ops/rms_norm.h"

#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/kernels/rms_norm.h"

namespace ingot {
namespace {

Shape row_shape(const Tensor& x) {
  return x.shape.rank() == 2 ? Shape{x.shape[0]} : Shape{x.shape[0], x.shape[1]};
}

void check_values(const char* op, const char* name, const Tensor& tensor, const Tensor& like) {
  check_float(op, name, tensor);
  check_dtype(op, name, tensor, like.dtype);
  check_shape(op, name, tensor, like.shape);
}

// x(N, C) or (N, H, D), weight of its last dim, one rstd a row.
void check_norm(const char* op, const Tensor& x, const Tensor& weight, const Tensor& rstd) {
  check_float(op, "x", x);
  check(x.shape.rank() == 2 || x.shape.rank() == 3, ErrorCode::Internal,
        "{}: x must be (N, C) or (N, H, D), got {}", op, x);
  check_dtype(op, "weight", weight, x.dtype);
  check_shape(op, "weight", weight, {x.shape[-1]});
  check_contiguous(op, "weight", weight);
  check_dtype(op, "rstd", rstd, accumulation_dtype(x.dtype));
  check_shape(op, "rstd", rstd, row_shape(x));
  check_contiguous(op, "rstd", rstd);
}

}  // namespace

void rms_norm_forward(Context& ctx, const Tensor& x, const Tensor& weight, double eps,
                      const Tensor& y, const Tensor& rstd) {
  check_norm("rms_norm_forward", x, weight, rstd);
  check_values("rms_norm_forward", "y", y, x);
  INGOT_DISPATCH(x, rms_norm_forward, ctx, x, weight, eps, y, rstd);
}

void rms_norm_backward(Context& ctx, const Tensor& dy, const Tensor& x, const Tensor& weight,
                       const Tensor& rstd, const Tensor& dx, bool accumulate_dx,
                       const Tensor& dweight, const Tensor& y) {
  check_norm("rms_norm_backward", x, weight, rstd);
  check_values("rms_norm_backward", "dy", dy, x);
  check_values("rms_norm_backward", "dx", dx, x);
  check(!accumulate_dx || dx.data != dy.data, ErrorCode::Internal,
        "rms_norm_backward: dx must be another buffer than dy to accumulate");
  check_dtype("rms_norm_backward", "dweight", dweight, accumulation_dtype(x.dtype));
  check_shape("rms_norm_backward", "dweight", dweight, weight.shape);
  check_contiguous("rms_norm_backward", "dweight", dweight);
  if (y.defined()) {
    check_values("rms_norm_backward", "y", y, x);
    check(y.data != dy.data && y.data != dx.data, ErrorCode::Internal,
          "rms_norm_backward: y must be another buffer than dy and dx");
  }
  INGOT_DISPATCH(x, rms_norm_backward, ctx, dy, x, weight, rstd, dx, accumulate_dx, dweight, y);
}

int64_t rms_norm_backward_workspace_bytes(const DeviceFacts& facts, int64_t num_rows,
                                          int64_t width) {
  const int64_t rows = cpu::rms_norm_rows_per_chunk(num_rows);
  const int64_t num_partials = facts.kind == DeviceKind::Cuda
                                   ? cuda::rms_norm_backward_blocks(facts, num_rows, width)
                                   : (num_rows + rows - 1) / rows;
  return align_up(num_partials * width * size_of(DType::F64));
}

}  // namespace ingot
