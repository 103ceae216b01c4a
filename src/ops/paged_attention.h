// Attention of a decoder over a KV cache in pages.
//
// The bits of an output row depend on its query and on the keys and values it sees: not on other
// rows, how a prompt was cut into chunks, which pages hold it, or the number of threads (CPU).
#pragma once

#include <span>

#include "core/device/context.h"
#include "core/tensor/kv_page.h"
#include "core/tensor/tensor.h"
#include "ops/attention.h"

namespace ingot {

// Consecutive new tokens of one sequence.
struct PagedSequence {
  // Page i holds positions [i · kPageTokens, (i + 1) · kPageTokens). Entries that lie outside the
  // windows of all rows are not read.
  std::span<const int32_t> pages;
  int64_t first_position = 0;  // of its first row
  int64_t first_row = 0;       // of q, k, v and out
  int64_t num_rows = 0;
};

// The sequences again, row by row in a GPU's memory, for its kernels. I32, contiguous.
struct PagedRows {
  Tensor ends;         // (N) tokens that the row sees, itself among them; 0: not a row at all
  Tensor first_pages;  // (N) where the pages of its sequence begin in page_ids
  Tensor page_ids;     // (·)
  int64_t context;     // the most tokens that any row will ever see
};

// What a call computes. On a GPU the sequences are in the order of their rows and page_ids, and if
// each has one row, they may have fewer than the tensors: the rest are no rows.
struct PagedBatch {
  std::span<const PagedSequence> sequences;
  PagedRows rows = {};  // on a GPU
};

// A layer's cache: (num_pages, page_elements(kv_heads, head_dim)), contiguous, BF16 or F32 on the
// CPU; on a GPU the dtype of the heads.
struct PagedCache {
  Tensor pages;
  int64_t kv_heads = 0;
};

// Writes k and v (N, G, D) to the pages of their positions. Then out(N, H, D) = attention of q(N,
// H, D) over the positions of its sequence up to its own. Any strides with a contiguous last dim.
// On the CPU all four are F32. `options`: causal without documents; a window, a soft cap and a
// scale are respected. Throws ErrorCode::Config for others.
void paged_attention_forward(Context& ctx, const Tensor& q, const Tensor& k, const Tensor& v,
                             const PagedCache& cache, const PagedBatch& batch,
                             const AttentionOptions& options, const Tensor& out);

// What the largest call needs of the context's workspace.
struct PagedAttentionCalls {
  DType dtype;          // of the heads
  int64_t max_rows;     // of one sequence in a call
  int64_t max_context;  // positions of a sequence
  int64_t heads, kv_heads, head_dim;
  bool deterministic;  // as in the context
};
int64_t paged_attention_workspace_bytes(const DeviceFacts& facts, const PagedAttentionCalls& calls);

}  // namespace ingot
