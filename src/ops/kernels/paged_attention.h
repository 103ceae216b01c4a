// Kernels of ops/paged_attention.h, for the CPU alone: a GPU uses those of ops/attention.h.
#pragma once

#include "ops/common/kernel.h"
#include "ops/paged_attention.h"

namespace ingot::cpu {

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

}  // namespace ingot::cpu
