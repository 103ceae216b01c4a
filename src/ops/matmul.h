// Matrix products. Inputs and outputs F32, BF16 or F64 (all row-major, last dim contiguous);
// BF16 inputs accumulate in F32.
#pragma once

#include "core/context.h"
#include "core/tensor.h"

namespace ingot {

enum class Accumulate { No, Yes };  // overwrite the output, or add to it

// y(N, R) = x(N, C) · w(R, C)ᵀ
void linear_forward(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& y,
                    Accumulate accumulate = Accumulate::No);
// dx(N, C) = dy(N, R) · w(R, C)
void linear_backward_input(Context& ctx, const Tensor& dy, const Tensor& w, const Tensor& dx,
                           Accumulate accumulate);
// dw(R, C) = dy(N, R)ᵀ · x(N, C); dw is F32 when the inputs are BF16
void linear_backward_weight(Context& ctx, const Tensor& dy, const Tensor& x, const Tensor& dw,
                            Accumulate accumulate);

// F32 scratch that BF16 operands are widened into; 0 for F32 and F64. `elements` is the largest
// x.numel + w.numel + y.numel among the products of a step.
int64_t matmul_workspace_bytes(DType dtype, int64_t elements);

}  // namespace ingot
