// The MLP's pointwise functions. All tensors contiguous and of one dtype: F32, BF16 or F64.
#pragma once

#include "core/context.h"
#include "core/tensor.h"

namespace ingot {

// out(N, F) = silu(gate) · up, where gate_up(N, 2F) holds gate then up in each row.
void swiglu_forward(Context& ctx, const Tensor& gate_up, const Tensor& out);
// dgate_up(N, 2F) from dout(N, F); dgate_up may be gate_up.
void swiglu_backward(Context& ctx, const Tensor& dout, const Tensor& gate_up,
                     const Tensor& dgate_up);

// out(N, F) = max(x, 0)²; out may be x.
void relu_squared_forward(Context& ctx, const Tensor& x, const Tensor& out);
// dx may be dout or x.
void relu_squared_backward(Context& ctx, const Tensor& dout, const Tensor& x, const Tensor& dx);

}  // namespace ingot
