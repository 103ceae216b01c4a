// GPU kernels of ops/rms_norm.h; arguments are checked by the caller. All work goes to the
// context's stream.
#pragma once

#include <algorithm>

#include "core/context.h"
#include "core/tensor.h"

namespace ingot::cuda {

void rms_norm_forward(Context& ctx, const Tensor& x, const Tensor& weight, double eps,
                      const Tensor& y, const Tensor& rstd);
void rms_norm_backward(Context& ctx, const Tensor& dy, const Tensor& x, const Tensor& weight,
                       const Tensor& rstd, const Tensor& dx, bool accumulate_dx,
                       const Tensor& dweight, const Tensor& y);

// Blocks of the backward pass, each of which leaves a part of dweight: with vectors of bf16 at most
// 768 threads a multiprocessor, 640 for wide rows, which is what its registers hold: one block more
// would run alone at the end. It depends on the shape and the device alone: so does the rounding of
// dweight.
inline int64_t rms_norm_backward_blocks(const DeviceFacts& facts, int64_t num_rows, int64_t width) {
  const int64_t per_sm = width <= 256    ? 3
                         : width <= 2048 ? std::min<int64_t>(6, 6144 / width)
                                         : std::max<int64_t>(2, 10240 / width);
  return std::min(num_rows, per_sm * facts.num_sms);
}

// For kernels that make more of the backward pass (fp8_rms_norm.cu): dweight(C) += Σ of the first
// num_partials rows of partials(…, C).
void rms_norm_add_partials(Context& ctx, const Tensor& partials, int64_t num_partials,
                           const Tensor& dweight);

}  // namespace ingot::cuda
