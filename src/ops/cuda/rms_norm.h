// GPU kernels of ops/rms_norm.h; arguments are checked by the caller. All work goes to the
// context's stream.
#pragma once

#include "core/context.h"
#include "core/tensor.h"

namespace ingot::cuda {

void rms_norm_forward(Context& ctx, const Tensor& x, const Tensor& weight, double eps,
                      const Tensor& y, const Tensor& rstd);
void rms_norm_backward(Context& ctx, const Tensor& dy, const Tensor& x, const Tensor& weight,
                       const Tensor& rstd, const Tensor& dx, bool accumulate_dx,
                       const Tensor& dweight, const Tensor& y);
int64_t rms_norm_backward_workspace_bytes(const Context& ctx, int64_t num_rows, int64_t width);

// For kernels that make more of the backward pass (fp8_rms_norm.cu): how many parts of dweight it
// may leave, and their sum: dweight(C) += Σ of the first num_partials rows of partials(…, C).
int64_t rms_norm_backward_blocks(const Context& ctx, int64_t num_rows, int64_t width);
void rms_norm_add_partials(Context& ctx, const Tensor& partials, int64_t num_partials,
                           const Tensor& dweight);

}  // namespace ingot::cuda
