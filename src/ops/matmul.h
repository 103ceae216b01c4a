// Matrix products, row-major with a contiguous last dim; rows may be strided. Each operand is F32
// or BF16 in any mixture, summed in F32, or all are F64. The output overlaps no input. Results do
// not depend on the number of threads.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

enum class Accumulate { No, Yes };  // overwrite the output, or add to it

// y(N, R) = x(N, C) · w(R, C)ᵀ, plus addend(N, R) where defined: like y, and y itself at most.
void linear_forward(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& y,
                    const Tensor& addend = {});
// dx(N, C) = dy(N, R) · w(R, C)
void linear_backward_input(Context& ctx, const Tensor& dy, const Tensor& w, const Tensor& dx,
                           Accumulate accumulate);
// dw(R, C) = dy(N, R)ᵀ · x(N, C); dw is F32 when the inputs are BF16
void linear_backward_weight(Context& ctx, const Tensor& dy, const Tensor& x, const Tensor& dw,
                            Accumulate accumulate);

// Scratch that any product may ask for. 0 on the CPU, where operands are packed, and BF16 widened,
// in buffers that each thread keeps (4 MB at most); on a GPU what cuBLASLt's kernels may use.
int64_t matmul_workspace_bytes(const DeviceFacts& facts);

}  // namespace ingot
