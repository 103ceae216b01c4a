// GPU kernels of ops/activation.h; arguments are checked by the caller. All work goes to the
// context's stream.
#pragma once

#include "core/context.h"
#include "core/tensor.h"

namespace ingot::cuda {

void swiglu_forward(Context& ctx, const Tensor& gate_up, const Tensor& out);
void swiglu_backward(Context& ctx, const Tensor& dout, const Tensor& gate_up,
                     const Tensor& dgate_up, const Tensor& out);
void relu_squared_forward(Context& ctx, const Tensor& x, const Tensor& out);
void relu_squared_backward(Context& ctx, const Tensor& dout, const Tensor& x, const Tensor& dx,
                           const Tensor& out);

}  // namespace ingot::cuda
