#include "ops/lm_head.h"

#include <algorithm>

#include "ops/checks.h"
#include "ops/cpu/lm_head.h"
#include "ops/cuda/lm_head.h"
#include "ops/dispatch.h"

namespace ingot {
namespace {

void check_head(const char* op, const Tensor& h, const Tensor& w, const Tensor& targets,
                const LossOptions& options, const Tensor& losses) {
  check_float(op, "h", h);
  check_rank(op, "h", h, 2);
  check_float(op, "w", w);
  check_rank(op, "w", w, 2);
  check_dtype(op, "w", w, h.dtype);
  check_shape(op, "w", w, {w.shape[0], h.shape[1]});
  check_dtype(op, "targets", targets, DType::I32);
  check_shape(op, "targets", targets, {h.shape[0]});
  check_contiguous(op, "targets", targets);
  check_dtype(op, "losses", losses, wide_dtype(h.dtype));
  check_shape(op, "losses", losses, {h.shape[0]});
  check_contiguous(op, "losses", losses);
  check(options.chunk > 0, ErrorCode::Internal, "{}: chunk must be positive, got {}", op,
        options.chunk);
  if (targets.device.kind == DeviceKind::Cuda) return;  // the host cannot see them
  const int64_t V = w.shape[0];
  const int32_t* ids = targets.as<int32_t>();
  for (int64_t n = 0; n < h.shape[0]; ++n) {
    check(ids[n] == options.ignore_index || (ids[n] >= 0 && ids[n] < V), ErrorCode::Data,
          "target {} of token {} is outside the vocabulary: expected [0, {}) or {}", ids[n], n, V,
          options.ignore_index);
  }
}

DType logits_dtype(const Context& ctx, DType dtype) {
  return ctx.device.kind == DeviceKind::Cuda ? dtype : wide_dtype(dtype);
}

// Elements from one row of logits to the next. On a GPU each row begins at a whole vector of 16
// bytes, whatever the vocabulary.
int64_t logits_stride(const Context& ctx, int64_t vocab) {
  return ctx.device.kind == DeviceKind::Cuda ? (vocab + 7) / 8 * 8 : vocab;
}

// Calls f(first, end, logits(end - first, V)) for each chunk, the logits computed.
template <class F>
void for_logits(Context& ctx, const Tensor& h, const Tensor& w, const LossOptions& options,
                const F& f) {
  const int64_t N = h.shape[0], V = w.shape[0];
  const int64_t chunk = std::min(options.chunk, N);
  const Workspace::Scope scope(ctx.workspace);
  const Tensor logits =
      ctx.workspace.take(logits_dtype(ctx, h.dtype), {chunk, logits_stride(ctx, V)}).slice(1, 0, V);
  for (int64_t first = 0; first < N; first += chunk) {
    const int64_t end = std::min(first + chunk, N);
    const Tensor rows = logits.slice(0, 0, end - first);
    linear_forward(ctx, h.slice(0, first, end), w, rows);
    f(first, end, rows);
  }
}

}  // namespace

void lm_head_loss_forward(Context& ctx, const Tensor& h, const Tensor& w, const Tensor& targets,
                          const LossOptions& options, const Tensor& losses) {
  check_head("lm_head_loss_forward", h, w, targets, options, losses);
  for_logits(ctx, h, w, options, [&](int64_t first, int64_t end, const Tensor& logits) {
    INGOT_DISPATCH(logits, cross_entropy, ctx, logits, targets.slice(0, first, end), options,
                   losses.slice(0, first, end));
  });
}

void lm_head_loss_backward(Context& ctx, const Tensor& h, const Tensor& w, const Tensor& targets,
                           const LossOptions& options, double scale, const Tensor& losses,
                           const Tensor& dh, const Tensor& dw, Accumulate accumulate_dw) {
  const char* op = "lm_head_loss_backward";
  check_head(op, h, w, targets, options, losses);
  check_float(op, "dh", dh);
  check_dtype(op, "dh", dh, h.dtype);
  check_shape(op, "dh", dh, h.shape);
  check_float(op, "dw", dw);
  check_dtype(op, "dw", dw, wide_dtype(h.dtype));
  check_shape(op, "dw", dw, w.shape);
  Accumulate accumulate = accumulate_dw;
  for_logits(ctx, h, w, options, [&](int64_t first, int64_t end, const Tensor& logits) {
    INGOT_DISPATCH(logits, cross_entropy_gradient, ctx, logits, targets.slice(0, first, end),
                   options, scale, losses.slice(0, first, end));
    const Tensor& dlogits = logits;  // (end - first, V), in place
    // dh may take h's place, so the weight's gradient comes first.
    linear_backward_weight(ctx, dlogits, h.slice(0, first, end), dw, accumulate);
    linear_backward_input(ctx, dlogits, w, dh.slice(0, first, end), Accumulate::No);
    accumulate = Accumulate::Yes;
  });
}

int64_t lm_head_workspace_bytes(const Context& ctx, DType dtype, int64_t chunk, int64_t vocab) {
  return align_up(chunk * logits_stride(ctx, vocab) * size_of(logits_dtype(ctx, dtype))) +
         matmul_workspace_bytes(ctx);
}

}  // namespace ingot
