// Kernels of ops/bias.h.
#pragma once

#include <algorithm>

#include "ops/common/kernel.h"

namespace ingot {

INGOT_KERNEL(void, add_bias, (Context & ctx, const Tensor& x, const Tensor& bias))
INGOT_KERNEL(void, bias_gradient, (Context & ctx, const Tensor& dy, const Tensor& dbias))

namespace cuda {

// The number of row parts in sums over columns. It depends only on the shape, and so does the
// rounding. At 256 columns per block these keep a GPU of 132 multiprocessors busy from 512 columns
// on.
inline int64_t column_parts(int64_t num_rows) {
  return std::clamp<int64_t>(num_rows / 32, 1, 128);
}

}  // namespace cuda
}  // namespace ingot
