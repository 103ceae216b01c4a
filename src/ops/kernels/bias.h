// Kernels of ops/bias.h.
#pragma once

#include <algorithm>

#include "ops/common/kernel.h"

namespace ingot {

INGOT_KERNEL(void, add_bias, (Context & ctx, const Tensor& x, const Tensor& bias))
INGOT_KERNEL(void, bias_gradient, (Context & ctx, const Tensor& dy, const Tensor& dbias))

namespace cuda {

// Parts of the rows that sums over columns are made of: it depends on the shape alone, and so does
// the rounding. With 256 columns a block this many keep a GPU of 132 multiprocessors busy from 512
// columns on.
inline int64_t column_parts(int64_t num_rows) {
  return std::clamp<int64_t>(num_rows / 32, 1, 128);
}

}  // namespace cuda
}  // namespace ingot
