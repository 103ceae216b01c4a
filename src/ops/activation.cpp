#include "ops/activation.h"

#include "ops/checks.h"
#include "ops/dispatch.h"
#include "ops/kernels/activation.h"

namespace ingot {
void swiglu_forward(Context& ctx, const Tensor& gate_up, const Tensor& out) {
  check_rank("swiglu_forward", "out", out, 2);
  check_operand("swiglu_forward", "out", out, out.shape, out.dtype);
  check_operand("swiglu_forward", "gate_up", gate_up, {out.shape[0], 2 * out.shape[1]}, out.dtype);
  INGOT_DISPATCH(out, swiglu_forward, ctx, gate_up, out);
}

void swiglu_backward(Context& ctx, const Tensor& dout, const Tensor& gate_up,
                     const Tensor& dgate_up, const Tensor& out) {
  check_rank("swiglu_backward", "dout", dout, 2);
  const Shape wide = {dout.shape[0], 2 * dout.shape[1]};
  check_operand("swiglu_backward", "dout", dout, dout.shape, dout.dtype);
  check_operand("swiglu_backward", "gate_up", gate_up, wide, dout.dtype);
  check_operand("swiglu_backward", "dgate_up", dgate_up, wide, dout.dtype);
  check_operand("swiglu_backward", "out", out, dout.shape, dout.dtype);
  INGOT_DISPATCH(dout, swiglu_backward, ctx, dout, gate_up, dgate_up, out);
}

void relu_squared_forward(Context& ctx, const Tensor& x, const Tensor& out) {
  check_operand("relu_squared_forward", "x", x, x.shape, x.dtype);
  check_operand("relu_squared_forward", "out", out, x.shape, x.dtype);
  INGOT_DISPATCH(x, relu_squared_forward, ctx, x, out);
}

void relu_squared_backward(Context& ctx, const Tensor& dout, const Tensor& x, const Tensor& dx,
                           const Tensor& out) {
  check_operand("relu_squared_backward", "x", x, x.shape, x.dtype);
  check_operand("relu_squared_backward", "dout", dout, x.shape, x.dtype);
  check_operand("relu_squared_backward", "dx", dx, x.shape, x.dtype);
  check_operand("relu_squared_backward", "out", out, x.shape, x.dtype);
  INGOT_DISPATCH(x, relu_squared_backward, ctx, dout, x, dx, out);
}

}  // namespace ingot
