#include "ops/paged_attention.h"

#include <algorithm>
#include <cmath>
#include <utility>
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

// Rows of a GPU's call, whose pages are in its own memory: the decoder has checked them.
void check_rows(const char* op, int64_t num_rows, const PagedBatch& batch) {
  int64_t rows = 0;
  bool single = true;
  for (const PagedSequence& s : batch.sequences) {
    rows += s.num_rows;
    single = single && s.num_rows == 1;
  }
  check(rows == num_rows || (single && rows < num_rows), ErrorCode::Internal,
        "{}: the sequences have {} rows, the tensors {}", op, rows, num_rows);
  for (const Tensor* tensor : {&batch.rows.ends, &batch.rows.first_pages}) {
    check_dtype(op, "rows", *tensor, DType::I32);
    check_shape(op, "rows", *tensor, {num_rows});
    check_contiguous(op, "rows", *tensor);
  }
  check_dtype(op, "page_ids", batch.rows.page_ids, DType::I32);
  check_contiguous(op, "page_ids", batch.rows.page_ids);
}

PagedRows slice(const PagedRows& rows, int64_t begin, int64_t end) {
  PagedRows part = rows;
  part.ends = rows.ends.slice(0, begin, end);
  part.first_pages = rows.first_pages.slice(0, begin, end);
  return part;
}

// Arguments of paged_attention_forward().
struct Call {
  const Tensor &q, &k, &v;
  const PagedCache& cache;
  const PagedBatch& batch;
  const AttentionOptions& options;  // with the scale
  const Tensor& out;
};

// Several rows of one sequence, a piece of a prompt: its keys and values are gathered, since the
// kernels of ops/attention.h read them in one piece. `page_ids` begin with those of the sequence.
void gpu_prompt(Context& ctx, const Call& call, const Tensor& page_ids, const PagedSequence& s) {
  const Tensor& q = call.q;
  const int64_t H = q.shape[1], D = q.shape[2], G = call.cache.kv_heads, n = s.num_rows;
  const int64_t first = first_visible(s, call.options.window), end = s.first_position + n;
  const int64_t last_row = s.first_row + n;
  cuda::paged_store(ctx, call.k.slice(0, s.first_row, last_row),
                    call.v.slice(0, s.first_row, last_row), call.cache,
                    slice(call.batch.rows, s.first_row, last_row));
  const Workspace::Scope scope(ctx.workspace);
  const Tensor k = ctx.workspace.take(q.dtype, {end - first, G, D});
  const Tensor v = ctx.workspace.take(q.dtype, {end - first, G, D});
  const Tensor lse = ctx.workspace.take(DType::F32, {1, H, n});
  cuda::paged_gather(ctx, call.cache, page_ids, first, k, v);
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
                     .out = as_batch(call.out, s.first_row, n),
                     .lse = lse},
                    call.options);
}

// Sequences with one row that follow each other are computed at once.
void gpu_attention(Context& ctx, const Call& call) {
  int64_t single = 0, row = 0, page = 0;  // rows that wait, the next row, its first page id
  const auto decode_waiting = [&](int64_t end) {
    const auto waiting = [&](const Tensor& heads) { return heads.slice(0, end - single, end); };
    if (single > 0)
      cuda::paged_decode(ctx, waiting(call.q), waiting(call.k), waiting(call.v), call.cache,
                         slice(call.batch.rows, end - single, end), call.options,
                         waiting(call.out));
    single = 0;
  };
  for (const PagedSequence& s : call.batch.sequences) {
    if (s.num_rows == 1) {
      ++single;
    } else if (s.num_rows > 1) {
      decode_waiting(row);
      const Tensor& ids = call.batch.rows.page_ids;
      gpu_prompt(ctx, call, ids.slice(0, page, ids.shape[0]), s);
    }
    row += s.num_rows;
    page += std::ssize(s.pages);
  }
  single += call.q.shape[0] - row;  // rows that are none
  decode_waiting(call.q.shape[0]);
}

}  // namespace

void paged_attention_forward(Context& ctx, const Tensor& q, const Tensor& k, const Tensor& v,
                             const PagedCache& cache, const PagedBatch& batch,
                             const AttentionOptions& options, const Tensor& out) {
  constexpr const char* kOp = "paged_attention";
  check_rank(kOp, "q", q, 3);
  const int64_t N = q.shape[0], H = q.shape[1], D = q.shape[2], G = cache.kv_heads;
  check_heads(kOp, "q", ctx, q, N, H, D);
  check_heads(kOp, "k", ctx, k, N, G, D);
  check_heads(kOp, "v", ctx, v, N, G, D);
  check_heads(kOp, "out", ctx, out, N, H, D);
  check_cache(kOp, ctx, cache, q.dtype, D);
  check(H % G == 0, ErrorCode::Config,
        "{}: key-value heads must divide heads, got {} heads and {} groups", kOp, H, G);
  check(options.causal && !options.document_start.defined(), ErrorCode::Config,
        "{}: a decoder's attention is causal, without documents", kOp);
  check(options.window >= 0 && options.softcap >= 0.0, ErrorCode::Config,
        "{}: window and soft cap must not be negative, got {} and {}", kOp, options.window,
        options.softcap);
  AttentionOptions scaled = options;
  if (scaled.scale == 0.0) scaled.scale = 1.0 / std::sqrt(static_cast<double>(D));
  if (runs_on_cuda(ctx, q)) {
    check_rows(kOp, N, batch);
    check(D <= kMaxCudaHeadDim, ErrorCode::Config, "{}: a GPU takes heads of up to {}, got {}", kOp,
          kMaxCudaHeadDim, D);
    return gpu_attention(ctx, {q, k, v, cache, batch, scaled, out});
  }
  check_sequences(kOp, cache, N, batch.sequences,
                  [&](const PagedSequence& s) { return first_visible(s, options.window); });
  INGOT_CPU_DISPATCH(paged_store, ctx, k, v, cache, tasks_of(batch.sequences, kPageTokens));
  const int64_t rows = std::max<int64_t>(1, cpu::kMaxTaskQueries / (H / G));
  const cpu::PagedAttention call{q, out, cache, scaled};
  INGOT_CPU_DISPATCH(paged_attention, ctx, call, tasks_of(batch.sequences, rows));
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
