// What the epilogues of hopper_product.cuh move at a time.
#pragma once

#include "ops/cuda/hopper_product.cuh"

namespace ingot::cuda::hopper {

// A sliver: of a group's 64 rows and of 64 columns those 32 rows that one register of
// the sums covers, 8 of each warp, either the upper or the lower of its 16. 4 KB, so that many
// are under way. A matrix (N, width) of which slivers are boxes is (1, N/16, 2, 8, width).
inline constexpr int kSliverBytes = 32 * 128;

// Where a thread's row of four 8×8 matrices beside each other lies in a sliver, as the TMA unit
// swizzles it; `chunk` counts 8 columns.
__device__ __forceinline__ uint32_t row_address(uint32_t sliver, int thread, int chunk) {
  const int row = thread % 8, column = chunk + thread % 32 / 8;
  return sliver + thread / 32 * 1024 + row * 128 + ((column ^ row) << 4);
}

}  // namespace ingot::cuda::hopper
