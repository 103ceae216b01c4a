// Kernels of ops/paged_attention.h.
#pragma once

#include "ops/common/kernel.h"
#include "ops/paged_attention.h"

namespace ingot {
namespace cpu {

// Queries [first_row, first_row + num_rows) of a sequence, the first at `position`.
struct PagedTask {
  const int32_t* pages;
  int64_t position, first_row, num_rows;
};

// Rows of q and out (N, H, D) F32 with a contiguous last dim; scale is set.
struct PagedAttention {
  Tensor q, out;
  PagedCache cache;
  AttentionOptions options;
};

// The tasks of all heads run in parallel. A task has at most kMaxTaskQueries query rows, counting
// each head of a group.
inline constexpr int64_t kMaxTaskQueries = 48;
INGOT_CPU_KERNEL(void, paged_attention,
                 (Context & ctx, const PagedAttention& call, std::span<const PagedTask> tasks))

// k and v (N, G, D) F32 of the tasks' rows.
INGOT_CPU_KERNEL(void, paged_store,
                 (Context & ctx, const Tensor& k, const Tensor& v, const PagedCache& cache,
                  std::span<const PagedTask> tasks))

}  // namespace cpu

// A GPU's page holds, of each group of heads, keys (kPageTokens, D), then values.

INGOT_CUDA_KERNEL(void, paged_store,
                  (Context & ctx, const Tensor& k, const Tensor& v, const PagedCache& cache,
                   const PagedRows& rows))

// k and v (n, G, D) contiguous = positions [first, first + n) of the sequence whose pages begin at
// page_ids.
INGOT_CUDA_KERNEL(void, paged_gather,
                  (Context & ctx, const PagedCache& cache, const Tensor& page_ids, int64_t first,
                   const Tensor& k, const Tensor& v))

// Stores and attends for rows that are the only ones of their sequences. D up to kMaxCudaHeadDim,
// scale is set.
INGOT_CUDA_KERNEL(void, paged_decode,
                  (Context & ctx, const Tensor& q, const Tensor& k, const Tensor& v,
                   const PagedCache& cache, const PagedRows& rows, const AttentionOptions& options,
                   const Tensor& out))

}  // namespace ingot
