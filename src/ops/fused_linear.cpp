#include "ops/fused_linear.h"

#include "ops/activation.h"
#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/common/rope_checks.h"
#include "ops/kernels/fused_linear.h"
#include "ops/matmul.h"

namespace ingot {

void linear_swiglu_forward(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& gate_up,
                           const Tensor& out) {
  constexpr const char* kOp = "linear_swiglu_forward";
  check_rank(kOp, "x", x, 2);
  check_rank(kOp, "out", out, 2);
  const int64_t N = x.shape[0], C = x.shape[1], F = out.shape[1];
  check_operand(kOp, "w", w, {2 * F, C}, x.dtype);
  check_operand(kOp, "gate_up", gate_up, {N, 2 * F}, x.dtype);
  check_operand(kOp, "out", out, {N, F}, x.dtype);
  if (runs_on_cuda(ctx, x) && cuda::linear_swiglu_forward(ctx, x, w, gate_up, out)) return;
  linear_forward(ctx, x, w, gate_up);
  swiglu_forward(ctx, gate_up, out);
}

void linear_swiglu_backward(Context& ctx, const Tensor& dy, const Tensor& w, const Tensor& gate_up,
                            const Tensor& dgate_up, const Tensor& out, bool out_is_kept) {
  constexpr const char* kOp = "linear_swiglu_backward";
  check_rank(kOp, "dy", dy, 2);
  check_rank(kOp, "out", out, 2);
  const int64_t N = dy.shape[0], C = dy.shape[1], F = out.shape[1];
  check_operand(kOp, "w", w, {C, F}, dy.dtype);
  check_operand(kOp, "gate_up", gate_up, {N, 2 * F}, dy.dtype);
  check_operand(kOp, "dgate_up", dgate_up, {N, 2 * F}, dy.dtype);
  check_operand(kOp, "out", out, {N, F}, dy.dtype);
  if (runs_on_cuda(ctx, dy) &&
      cuda::linear_swiglu_backward(ctx, dy, w, gate_up, dgate_up, out, out_is_kept))
    return;
  const Tensor& dout = out;  // (N, F), until it is built again in the same place
  linear_backward_input(ctx, dy, w, dout, Accumulate::No);
  swiglu_backward(ctx, dout, gate_up, dgate_up, out);
}

void linear_rope_forward(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& y,
                         const Tensor& heads, const RopeInput& rope) {
  constexpr const char* kOp = "linear_rope_forward";
  check_rank(kOp, "x", x, 2);
  check_rank(kOp, "y", y, 2);
  check_operand(kOp, "w", w, {y.shape[1], x.shape[1]}, x.dtype);
  check_operand(kOp, "y", y, {x.shape[0], y.shape[1]}, x.dtype);
  check_rotation(kOp, heads, rope);
  if (runs_on_cuda(ctx, x) && cuda::linear_rope_forward(ctx, x, w, y, heads, rope)) return;
  linear_forward(ctx, x, w, y);
  rope_forward(ctx, heads, rope);
}

}  // namespace ingot
