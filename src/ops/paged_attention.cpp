#include "ops/paged_attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/kernels/paged_attention.h"
#include "ops/memory.h"

namespace ingot {
namespace {

int64_t pages_of(int64_t tokens) {
  return (tokens + kPageTokens - 1) / kPageTokens;
}

// (N, heads, D); on the CPU F32.
void check_heads(const char* op, const char* name, const Context& ctx, const Tensor& heads,
                 int64_t N, int64_t num_heads, int64_t D) {
  check_float(op, name, heads);
  if (!runs_on_cuda(ctx, heads)) check_dtype(op, name, heads, DType::F32);
  check_shape(op, name, heads, {N, num_heads, D});
}

void check_cache(const char* op, const Context& ctx, const PagedCache& cache, DType heads,
                 int64_t D) {
  const Tensor& pages = cache.pages;
  const bool on_cuda = runs_on_cuda(ctx, pages);
  check(pages.dtype == heads || (!on_cuda && pages.dtype == DType::BF16), ErrorCode::Internal,
        "{}: pages must be {}{}, got {}", op, name_of(heads), on_cuda ? "" : " or bf16", pages);
  check_rank(op, "pages", pages, 2);
  check_shape(op, "pages", pages, {pages.shape[0], page_elements(cache.kv_heads, D)});
  check_contiguous(op, "pages", pages);
}

// The first position that any row of the sequence sees.
int64_t first_visible(const PagedSequence& sequence, int64_t window) {
  return window > 0 ? std::max<int64_t>(0, sequence.first_position + 1 - window) : 0;
}

// Each row once; pages that exist from the one with position `from` on.
void check_sequences(const char* op, const PagedCache& cache, int64_t num_rows,
                     std::span<const PagedSequence> sequences, auto first_position) {
  int64_t rows = 0;
  for (const PagedSequence& s : sequences) {
    check(s.first_row >= 0 && s.num_rows >= 0 && s.first_row + s.num_rows <= num_rows &&
              s.first_position >= 0,
          ErrorCode::Internal, "{}: rows {} to {} at position {} are not among {}", op, s.first_row,
          s.first_row + s.num_rows - 1, s.first_position, num_rows);
    rows += s.num_rows;
    const int64_t end = pages_of(s.first_position + s.num_rows);
    check(end <= std::ssize(s.pages), ErrorCode::Internal, "{}: {} pages are too few for {} tokens",
          op, s.pages.size(), s.first_position + s.num_rows);
    for (int64_t i = first_position(s) / kPageTokens; i < end; ++i) {
      const int32_t page = s.pages[static_cast<size_t>(i)];
      check(page >= 0 && page < cache.pages.shape[0], ErrorCode::Internal,
            "{}: page {} is not among {}", op, page, cache.pages.shape[0]);
    }
  }
  check(rows == num_rows, ErrorCode::Internal, "{}: the sequences have {} rows, the tensors {}", op,
        rows, num_rows);
}

// Tasks of at most `max_rows`.
std::vector<cpu::PagedTask> tasks_of(std::span<const PagedSequence> sequences, int64_t max_rows) {
  std::vector<cpu::PagedTask> tasks;
  for (const PagedSequence& s : sequences)
    for (int64_t row = 0; row < s.num_rows; row += max_rows)
      tasks.push_back({.pages = s.pages.data(),
                       .position = s.first_position + row,
                       .first_row = s.first_row + row,
                       .num_rows = std::min(max_rows, s.num_rows - row)});
  return tasks;
}

// On a GPU a page holds keys (kPageTokens, G, D), then values: what ops/memory.h copies. (2,
// kPageTokens, G, D) of the page of a position.
Tensor gpu_page(const PagedCache& cache, const PagedSequence& sequence, int64_t position,
                int64_t D) {
  const int32_t page = sequence.pages[static_cast<size_t>(position / kPageTokens)];
  const Tensor elements = cache.pages.slice(0, page, page + 1);
  return elements.reshape({2, kPageTokens, cache.kv_heads, D});
}

// Calls f(page (2, n, G, D), first position) for the pages of positions [begin, end).
void for_gpu_pages(const PagedCache& cache, const PagedSequence& sequence, int64_t begin,
                   int64_t end, int64_t D, auto f) {
  while (begin < end) {
    const int64_t first = begin / kPageTokens * kPageTokens;
    const int64_t stop = std::min(end, first + kPageTokens);
    f(gpu_page(cache, sequence, begin, D).slice(1, begin - first, stop - first), begin);
    begin = stop;
  }
}

// (n, G, D) of (2, n, G, D): 0 keys, 1 values.
Tensor half_of(const Tensor& page, int64_t half) {
  Tensor tensor = page.slice(0, half, half + 1);
  tensor.shape = {page.shape[1], page.shape[2], page.shape[3]};
  tensor.strides = {page.strides[1], page.strides[2], page.strides[3]};
  return tensor;
}

void gpu_store(Context& ctx, const Tensor& k, const Tensor& v, const PagedCache& cache,
               const PagedSequence& s) {
  for_gpu_pages(cache, s, s.first_position, s.first_position + s.num_rows, k.shape[2],
                [&](const Tensor& page, int64_t position) {
                  const int64_t row = s.first_row + position - s.first_position;
                  const int64_t end = row + page.shape[1];
                  copy(ctx, k.slice(0, row, end), half_of(page, 0));
                  copy(ctx, v.slice(0, row, end), half_of(page, 1));
                });
}

// One sequence: its pages are gathered, since the kernels read keys and values in one piece.
void gpu_attention(Context& ctx, const Tensor& q, const PagedCache& cache, const PagedSequence& s,
                   const AttentionOptions& options, const Tensor& out) {
  const int64_t H = q.shape[1], D = q.shape[2], G = cache.kv_heads, n = s.num_rows;
  const int64_t first = first_visible(s, options.window), end = s.first_position + n;
  const Workspace::Scope scope(ctx.workspace);
  const Tensor k = ctx.workspace.take(q.dtype, {end - first, G, D});
  const Tensor v = ctx.workspace.take(q.dtype, {end - first, G, D});
  const Tensor lse = ctx.workspace.take(DType::F32, {1, H, n});
  for_gpu_pages(cache, s, first, end, D, [&](const Tensor& page, int64_t position) {
    const int64_t to = position - first;
    copy(ctx, half_of(page, 0), k.slice(0, to, to + page.shape[1]));
    copy(ctx, half_of(page, 1), v.slice(0, to, to + page.shape[1]));
  });
  const auto as_batch = [](const Tensor& heads, int64_t begin, int64_t rows) {
    Tensor part = heads.slice(0, begin, begin + rows);
    part.shape = {1, rows, heads.shape[1], heads.shape[2]};
    part.strides = {rows * heads.strides[0], heads.strides[0], heads.strides[1], heads.strides[2]};
    return part;
  };
  attention_forward(ctx,
                    {.q = as_batch(q, s.first_row, n),
                     .k = as_batch(k, 0, end - first),
                     .v = as_batch(v, 0, end - first),
                     .out = as_batch(out, s.first_row, n),
                     .lse = lse},
                    options);
}

}  // namespace

void paged_store(Context& ctx, const Tensor& k, const Tensor& v, const PagedCache& cache,
                 std::span<const PagedSequence> sequences) {
  constexpr const char* kOp = "paged_store";
  check_rank(kOp, "k", k, 3);
  const int64_t N = k.shape[0], D = k.shape[2];
  check_heads(kOp, "k", ctx, k, N, cache.kv_heads, D);
  check_heads(kOp, "v", ctx, v, N, cache.kv_heads, D);
  check_cache(kOp, ctx, cache, k.dtype, D);
  check_sequences(kOp, cache, N, sequences,
                  [](const PagedSequence& s) { return s.first_position; });
  if (!runs_on_cuda(ctx, k)) {
    INGOT_CPU_DISPATCH(paged_store, ctx, k, v, cache, tasks_of(sequences, kPageTokens));
    return;
  }
  for (const PagedSequence& s : sequences) gpu_store(ctx, k, v, cache, s);
}

void paged_attention_forward(Context& ctx, const Tensor& q, const PagedCache& cache,
                             std::span<const PagedSequence> sequences,
                             const AttentionOptions& options, const Tensor& out) {
  constexpr const char* kOp = "paged_attention";
  check_rank(kOp, "q", q, 3);
  const int64_t N = q.shape[0], H = q.shape[1], D = q.shape[2];
  check_heads(kOp, "q", ctx, q, N, H, D);
  check_heads(kOp, "out", ctx, out, N, H, D);
  check_cache(kOp, ctx, cache, q.dtype, D);
  check(H % cache.kv_heads == 0, ErrorCode::Config,
        "{}: key-value heads must divide heads, got {} heads and {} groups", kOp, H,
        cache.kv_heads);
  check(options.causal && !options.document_start.defined(), ErrorCode::Config,
        "{}: a decoder's attention is causal, without documents", kOp);
  check(options.window >= 0 && options.softcap >= 0.0, ErrorCode::Config,
        "{}: window and soft cap must not be negative, got {} and {}", kOp, options.window,
        options.softcap);
  check_sequences(kOp, cache, N, sequences,
                  [&](const PagedSequence& s) { return first_visible(s, options.window); });
  if (runs_on_cuda(ctx, q)) {
    for (const PagedSequence& s : sequences)
      if (s.num_rows > 0) gpu_attention(ctx, q, cache, s, options, out);
    return;
  }
  cpu::PagedAttention call{q, out, cache, options};
  if (call.options.scale == 0.0) call.options.scale = 1.0 / std::sqrt(static_cast<double>(D));
  const int64_t rows = std::max<int64_t>(1, cpu::kMaxTaskQueries / (H / cache.kv_heads));
  INGOT_CPU_DISPATCH(paged_attention, ctx, call, tasks_of(sequences, rows));
}

int64_t paged_attention_workspace_bytes(const DeviceFacts& facts, const PagedAttentionCalls& c) {
  if (facts.kind == DeviceKind::Cpu) return 0;
  const int64_t keys = align_up(c.max_context * c.kv_heads * c.head_dim * size_of(c.dtype));
  const int64_t lse = align_up(c.heads * c.max_rows * size_of(DType::F32));
  return 2 * keys + lse +
         attention_workspace_bytes(facts, {.dtype = c.dtype,
                                           .B = 1,
                                           .Tq = c.max_rows,
                                           .Tk = c.max_context,
                                           .H = c.heads,
                                           .G = c.kv_heads,
                                           .D = c.head_dim,
                                           .deterministic = c.deterministic});
}

}  // namespace ingot
