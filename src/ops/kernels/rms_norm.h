// Kernels of ops/rms_norm.h, and the number of partial sums of dweight. It depends only on shape
// and device, and so does the rounding.
#pragma once

#include <algorithm>

#include "ops/common/kernel.h"

namespace ingot {

INGOT_KERNEL(void, rms_norm_forward,
             (Context & ctx, const Tensor& x, const Tensor& weight, double eps, const Tensor& y,
              const Tensor& rstd))
// y may be undefined.
INGOT_KERNEL(void, rms_norm_backward,
             (Context & ctx, const Tensor& dy, const Tensor& x, const Tensor& weight,
              const Tensor& rstd, const Tensor& dx, bool accumulate_dx, const Tensor& dweight,
              const Tensor& y))

namespace cpu {

// Rows of a task. At most 128 partial sums: enough for two per thread with 64 threads, and small.
inline int64_t rms_norm_rows_per_chunk(int64_t num_rows) {
  const int64_t rows = (num_rows + 127) / 128;
  return rows < 32 ? 32 : rows;
}

}  // namespace cpu

namespace cuda {

// Blocks of the backward pass, with one partial sum each. With bf16 vectors a multiprocessor's
// registers hold at most 768 threads, 640 for wide rows; one more block would run alone at the end.
inline int64_t rms_norm_backward_blocks(const DeviceFacts& facts, int64_t num_rows, int64_t width) {
  const int64_t per_sm = width <= 256    ? 3
                         : width <= 2048 ? std::min<int64_t>(6, 6144 / width)
                                         : std::max<int64_t>(2, 10240 / width);
  return std::min(num_rows, per_sm * facts.num_sms);
}

}  // namespace cuda
}  // namespace ingot
