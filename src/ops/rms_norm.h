// RMSNorm of rows and of heads (QK-norm).
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

// y = x / sqrt(mean(x²) + eps) · weight over the last dim. x and y are (N, C), or (N, H, D) with
// arbitrary strides in all but the last dim (heads inside packed QKV rows); rstd is F32 (F64 for
// F64), contiguous (N) or (N, H). y may be x.
void rms_norm_forward(Context& ctx, const Tensor& x, const Tensor& weight, double eps,
                      const Tensor& y, const Tensor& rstd);

// dx (=, or += if accumulate_dx) the gradient through the norm; dweight(C) += its gradient, F32
// (F64 for F64). dx may be dy if it does not accumulate. Partial sums of dweight are over fixed row
// chunks, so the result does not depend on the number of threads. y: undefined, or a tensor like x
// in which the same pass rebuilds the forward output bit for bit; not dy or dx.
void rms_norm_backward(Context& ctx, const Tensor& dy, const Tensor& x, const Tensor& weight,
                       const Tensor& rstd, const Tensor& dx, bool accumulate_dx,
                       const Tensor& dweight, const Tensor& y = {});

int64_t rms_norm_backward_workspace_bytes(const DeviceFacts& facts, int64_t num_rows,
                                          int64_t width);

}  // namespace ingot
