// Kernels of ops/embedding.h.
#pragma once

#include "ops/common/kernel.h"

namespace ingot {

INGOT_KERNEL(void, embedding_forward,
             (Context & ctx, const Tensor& tokens, const Tensor& table, const Tensor& out))
INGOT_KERNEL(void, embedding_add,
             (Context & ctx, const Tensor& tokens, const Tensor& table, const Tensor& out))
INGOT_KERNEL(void, embedding_backward,
             (Context & ctx, const Tensor& tokens, const Tensor& dout, const Tensor& dtable))

namespace cuda {

// An upper bound for sorting N pairs of 4-byte numbers: cub's copies of both, 1 KiB of counts per
// tile (assumed to be 1,024 pairs; tiles are several times larger), and its histograms.
inline int64_t embedding_sort_bytes(int64_t N) {
  constexpr int64_t kHistogramBytes = 64 * 1024;
  return 2 * align_up(N * size_of(DType::I32)) + align_up(N) + kHistogramBytes;
}

}  // namespace cuda
}  // namespace ingot
