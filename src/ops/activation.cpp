#include "ops/activation.h"

#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/kernels/activation.h"

namespace ingot {
namespace {

// out(N, F) of gate_up(N, 2F).
void check_gated(const char* op, const Tensor& gate_up, const Tensor& out) {
  check_rank(op, "out", out, 2);
  check_operand(op, "out", out, out.shape, out.dtype);
  check_operand(op, "gate_up", gate_up, {out.shape[0], 2 * out.shape[1]}, out.dtype);
}

void check_gated_backward(const char* op, const Tensor& dout, const Tensor& gate_up,
                          const Tensor& dgate_up, const Tensor& out) {
  check_gated(op, gate_up, out);
  check_operand(op, "dout", dout, out.shape, out.dtype);
  check_operand(op, "dgate_up", dgate_up, gate_up.shape, out.dtype);
}

void check_pointwise(const char* op, const Tensor& x, const Tensor& out) {
  check_operand(op, "x", x, x.shape, x.dtype);
  check_operand(op, "out", out, x.shape, x.dtype);
}

void check_pointwise_backward(const char* op, const Tensor& dout, const Tensor& x, const Tensor& dx,
                              const Tensor& out) {
  check_pointwise(op, x, out);
  check_operand(op, "dout", dout, x.shape, x.dtype);
  check_operand(op, "dx", dx, x.shape, x.dtype);
}

}  // namespace

void swiglu_forward(Context& ctx, const Tensor& gate_up, const Tensor& out) {
  check_gated("swiglu_forward", gate_up, out);
  INGOT_DISPATCH(out, swiglu_forward, ctx, gate_up, out);
}

void swiglu_backward(Context& ctx, const Tensor& dout, const Tensor& gate_up,
                     const Tensor& dgate_up, const Tensor& out) {
  check_gated_backward("swiglu_backward", dout, gate_up, dgate_up, out);
  INGOT_DISPATCH(dout, swiglu_backward, ctx, dout, gate_up, dgate_up, out);
}

void geglu_forward(Context& ctx, const Tensor& gate_up, const Tensor& out) {
  check_gated("geglu_forward", gate_up, out);
  INGOT_DISPATCH(out, geglu_forward, ctx, gate_up, out);
}

void geglu_backward(Context& ctx, const Tensor& dout, const Tensor& gate_up, const Tensor& dgate_up,
                    const Tensor& out) {
  check_gated_backward("geglu_backward", dout, gate_up, dgate_up, out);
  INGOT_DISPATCH(dout, geglu_backward, ctx, dout, gate_up, dgate_up, out);
}

void gelu_forward(Context& ctx, const Tensor& x, const Tensor& out) {
  check_pointwise("gelu_forward", x, out);
  INGOT_DISPATCH(x, gelu_forward, ctx, x, out);
}

void gelu_backward(Context& ctx, const Tensor& dout, const Tensor& x, const Tensor& dx,
                   const Tensor& out) {
  check_pointwise_backward("gelu_backward", dout, x, dx, out);
  INGOT_DISPATCH(x, gelu_backward, ctx, dout, x, dx, out);
}

void relu_squared_forward(Context& ctx, const Tensor& x, const Tensor& out) {
  check_pointwise("relu_squared_forward", x, out);
  INGOT_DISPATCH(x, relu_squared_forward, ctx, x, out);
}

void relu_squared_backward(Context& ctx, const Tensor& dout, const Tensor& x, const Tensor& dx,
                           const Tensor& out) {
  check_pointwise_backward("relu_squared_backward", dout, x, dx, out);
  INGOT_DISPATCH(x, relu_squared_backward, ctx, dout, x, dx, out);
}

}  // namespace ingot
