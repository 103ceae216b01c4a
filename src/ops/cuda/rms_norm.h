// GPU kernels of ops/rms_norm.h; arguments are checked by the caller. All work goes to the
// context's stream.
#pragma once

#include "core/context.h"
#include "core/tensor.h"

namespace ingot::cuda {

void rms_norm_forward(Context& ctx, const Tensor& x, const Tensor& delta, const Tensor& weight,
                      double eps, const Tensor& residual_out, const Tensor& y, const Tensor& rstd);
void rms_norm_backward(Context& ctx, const Tensor& dy, const Tensor& x, const Tensor& weight,
                       const Tensor& rstd, const Tensor& dx, bool accumulate_dx,
                       const Tensor& dweight);
int64_t rms_norm_backward_workspace_bytes(const Context& ctx, int64_t num_rows, int64_t width);

}  // namespace ingot::cuda
