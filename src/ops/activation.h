// Pointwise activation functions of the MLP. All tensors are contiguous and of one dtype: F32, BF16
// or F64.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

// out(N, F) = silu(gate) · up, where gate_up(N, 2F) holds gate then up in each row.
void swiglu_forward(Context& ctx, const Tensor& gate_up, const Tensor& out);
// dgate_up(N, 2F) from dout(N, F); dgate_up may be gate_up. The same pass rebuilds the forward
// output bit for bit, so that it need not be kept: out(N, F), which may be dout.
void swiglu_backward(Context& ctx, const Tensor& dout, const Tensor& gate_up,
                     const Tensor& dgate_up, const Tensor& out);

// As swiglu, with gelu(gate) in place of silu(gate). gelu(x) = x/2 · (1 + tanh(√(2/π)·(x +
// 0.044715·x³))), GPT-2's «gelu_new».
void geglu_forward(Context& ctx, const Tensor& gate_up, const Tensor& out);
void geglu_backward(Context& ctx, const Tensor& dout, const Tensor& gate_up, const Tensor& dgate_up,
                    const Tensor& out);

// out(N, F) = gelu(x); out may be x.
void gelu_forward(Context& ctx, const Tensor& x, const Tensor& out);
// dx may be x. out is rebuilt as in swiglu_backward() and may be dout.
void gelu_backward(Context& ctx, const Tensor& dout, const Tensor& x, const Tensor& dx,
                   const Tensor& out);

// out(N, F) = max(x, 0)²; out may be x.
void relu_squared_forward(Context& ctx, const Tensor& x, const Tensor& out);
// dx may be x. out is rebuilt as in swiglu_backward() and may be dout.
void relu_squared_backward(Context& ctx, const Tensor& dout, const Tensor& x, const Tensor& dx,
                           const Tensor& out);

}  // namespace ingot
