#include "ops/matmul.h"

#include "ops/common/addend.h"
#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/kernels/matmul.h"

namespace ingot {
namespace {

void check_matrix(const char* op, const char* name, const Tensor& tensor) {
  check_float(op, name, tensor);
  check_rank(op, name, tensor, 2);
}

// Each of the three F32 or BF16, or all F64.
void check_dtypes(const char* op, const Tensor& a, const Tensor& b, const Tensor& c) {
  const auto wide = [](const Tensor& t) { return t.dtype == DType::F64; };
  check(wide(a) == wide(b) && wide(b) == wide(c), ErrorCode::Internal,
        "{}: either all of the operands are f64 or none, got {}, {} and {}", op, a, b, c);
}

enum class Stored { AsIs, Transposed };

GemmOperand operand(const Tensor& tensor, Stored stored) {
  return {tensor.data, tensor.dtype, tensor.strides[0], stored == Stored::Transposed};
}

void multiply(Context& ctx, const GemmOperand& a, const GemmOperand& b, int64_t K, const Tensor& c,
              Accumulate accumulate, const void* addend = nullptr) {
  const Gemm gemm{
      c.shape[0], c.shape[1], K, a, b, c.data, c.dtype, c.strides[0], accumulate == Accumulate::Yes,
      addend};
  INGOT_DISPATCH(c, matmul, ctx, gemm);
}

}  // namespace

void linear_forward(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& y,
                    const Tensor& addend) {
  check_matrix("linear_forward", "x", x);
  check_matrix("linear_forward", "w", w);
  check_matrix("linear_forward", "y", y);
  check_dtypes("linear_forward", x, w, y);
  check_shape("linear_forward", "w", w, {y.shape[1], x.shape[1]});
  check_shape("linear_forward", "y", y, {x.shape[0], w.shape[0]});
  multiply(ctx, operand(x, Stored::AsIs), operand(w, Stored::Transposed), x.shape[1], y,
           addend.defined() ? Accumulate::Yes : Accumulate::No,
           addend_for("linear_forward", ctx, addend, y));
}

void linear_backward_input(Context& ctx, const Tensor& dy, const Tensor& w, const Tensor& dx,
                           Accumulate accumulate) {
  check_matrix("linear_backward_input", "dy", dy);
  check_matrix("linear_backward_input", "w", w);
  check_matrix("linear_backward_input", "dx", dx);
  check_dtypes("linear_backward_input", dy, w, dx);
  check_shape("linear_backward_input", "w", w, {dy.shape[1], dx.shape[1]});
  check_shape("linear_backward_input", "dx", dx, {dy.shape[0], w.shape[1]});
  multiply(ctx, operand(dy, Stored::AsIs), operand(w, Stored::AsIs), dy.shape[1], dx, accumulate);
}

void linear_backward_weight(Context& ctx, const Tensor& dy, const Tensor& x, const Tensor& dw,
                            Accumulate accumulate) {
  check_matrix("linear_backward_weight", "dy", dy);
  check_matrix("linear_backward_weight", "x", x);
  check_matrix("linear_backward_weight", "dw", dw);
  check_dtypes("linear_backward_weight", dy, x, dw);
  check_shape("linear_backward_weight", "x", x, {dy.shape[0], dw.shape[1]});
  check_shape("linear_backward_weight", "dw", dw, {dy.shape[1], x.shape[1]});
  check_dtype("linear_backward_weight", "dw", dw, accumulation_dtype(dy.dtype));
  multiply(ctx, operand(dy, Stored::Transposed), operand(x, Stored::AsIs), dy.shape[0], dw,
           accumulate);
}

int64_t matmul_workspace_bytes(const DeviceFacts& facts) {
  return facts.kind == DeviceKind::Cuda ? cuda::kMatmulWorkspaceBytes : 0;
}

}  // namespace ingot
