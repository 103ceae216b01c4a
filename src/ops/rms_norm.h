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

// dx (=, or += under accumulate) the gradient through the norm; dweight(C) += . dweight is F32 (F64
// for F64). dx may be dy when it does not accumulate. Partial sums of dweight are over fixed row
// chunks, so the result does not depend on the thread count. y: undefined, or like x: the forward's
// output is built again there in the same pass, bit for bit; it may not be dy or dx.
void rms_norm_backward(Context& ctx, const Tensor& dy, const Tensor& x, const Tensor& weight,
                       const Tensor& rstd, const Tensor& dx, bool accumulate_dx,
                       const Tensor& dweight, const Tensor& y = {});

int64_t rms_norm_backward_workspace_bytes(const DeviceFacts& facts, int64_t num_rows,
                                          int64_t width);

}  // namespace ingot
