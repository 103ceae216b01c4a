// CPU kernels of ops/rms_norm.h; arguments are checked by the caller.
#pragma once

#include "core/context.h"
#include "core/isa.h"
#include "core/tensor.h"

namespace ingot::cpu {

INGOT_CPU_KERNEL(void, rms_norm_forward,
                 (Context & ctx, const Tensor& x, const Tensor& weight, double eps, const Tensor& y,
                  const Tensor& rstd))
// y may be undefined.
INGOT_CPU_KERNEL(void, rms_norm_backward,
                 (Context & ctx, const Tensor& dy, const Tensor& x, const Tensor& weight,
                  const Tensor& rstd, const Tensor& dx, bool accumulate_dx, const Tensor& dweight,
                  const Tensor& y))

// Rows whose part of dweight is summed by one task. It depends on the shape alone: so does the
// rounding. At most 128 chunks: 64 threads still find two each, and the partial sums stay small.
inline int64_t rms_norm_rows_per_chunk(int64_t num_rows) {
  const int64_t rows = (num_rows + 127) / 128;
  return rows < 32 ? 32 : rows;
}

}  // namespace ingot::cpu
