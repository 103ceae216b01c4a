// GEMMs, row-major with a contiguous last dim; rows may be strided. Each operand is F32 or BF16 in
// any mixture, accumulated in F32; or all are F64. A CPU with AVX512-BF16 multiplies a mixture in
// BF16: it rounds the F32 input. The output must not overlap an input. Results do not depend on the
// number of threads.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

enum class Accumulate { No, Yes };  // overwrite the output, or add to it

// y(N, R) = x(N, C) · w(R, C)ᵀ, plus addend(N, R) if defined. addend has y's layout and may be y.
void linear_forward(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& y,
                    const Tensor& addend = {});
// dx(N, C) = dy(N, R) · w(R, C)
void linear_backward_input(Context& ctx, const Tensor& dy, const Tensor& w, const Tensor& dx,
                           Accumulate accumulate);
// dw(R, C) = dy(N, R)ᵀ · x(N, C); dw is F32 when the inputs are BF16
void linear_backward_weight(Context& ctx, const Tensor& dy, const Tensor& x, const Tensor& dw,
                            Accumulate accumulate);

// Scratch that any GEMM may need. CPU: 0; operands are packed and BF16 is widened in buffers that
// each thread keeps (at most 4 MB). GPU: the workspace of cuBLASLt's kernels.
int64_t matmul_workspace_bytes(const DeviceFacts& facts);

}  // namespace ingot
