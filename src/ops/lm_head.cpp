#include "ops/lm_head.h"

#include <algorithm>

#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/kernels/lm_head.h"

namespace ingot {
namespace {

void check_weight(const char* op, const Tensor& h, const Tensor& w) {
  check_float(op, "w", w);
  check_rank(op, "w", w, 2);
  check_dtype(op, "w", w, h.dtype);
  check_shape(op, "w", w, {w.shape[0], h.shape[1]});
}

void check_head(const char* op, const Tensor& h, int64_t V, const Tensor& targets,
                const LossOptions& options, const Tensor& losses) {
  check_float(op, "h", h);
  check_rank(op, "h", h, 2);
  check_dtype(op, "targets", targets, DType::I32);
  check_shape(op, "targets", targets, {h.shape[0]});
  check_contiguous(op, "targets", targets);
  check_dtype(op, "losses", losses, accumulation_dtype(h.dtype));
  check_shape(op, "losses", losses, {h.shape[0]});
  check_contiguous(op, "losses", losses);
  check(options.chunk > 0, ErrorCode::Internal, "{}: chunk must be positive, got {}", op,
        options.chunk);
  if (targets.device.kind == DeviceKind::Cuda) return;  // the host cannot see them
  const int32_t* ids = targets.as<int32_t>();
  for (int64_t n = 0; n < h.shape[0]; ++n) {
    check(ids[n] == options.ignore_index || (ids[n] >= 0 && ids[n] < V), ErrorCode::Data,
          "target {} of token {} is outside the vocabulary: expected [0, {}) or {}", ids[n], n, V,
          options.ignore_index);
  }
}

DType logits_dtype(const DeviceFacts& facts, DType dtype) {
  return facts.kind == DeviceKind::Cuda ? dtype : accumulation_dtype(dtype);
}

// Elements from one row of logits to the next. On a GPU each row begins at a whole vector of 16
// bytes, whatever the vocabulary.
int64_t logits_stride(const DeviceFacts& facts, int64_t vocab) {
  return facts.kind == DeviceKind::Cuda ? (vocab + 7) / 8 * 8 : vocab;
}

// The three GEMMs of tokens [first, end), on unconverted operands.
struct PlainHead {
  Context& ctx;
  const Tensor& h;  // (N, C)
  const Tensor& w;  // (V, C)

  void logits(int64_t first, int64_t end, const Tensor& logits) const {
    linear_forward(ctx, h.slice(0, first, end), w, logits);
  }
  // dh may take h's place, so the weight's gradient comes first.
  void gradients(int64_t first, int64_t end, const Tensor& dlogits, const Tensor& dh,
                 const Tensor& dw, Accumulate accumulate) const {
    linear_backward_weight(ctx, dlogits, h.slice(0, first, end), dw, accumulate);
    linear_backward_input(ctx, dlogits, w, dh.slice(0, first, end), Accumulate::No);
  }
};

// The same on 8-bit operands, with room for those of a chunk.
struct Fp8Head {
  Context& ctx;
  const Tensor& h;     // (N, C)
  const Quantized& w;  // (V, C)
  Quantized h8;        // (chunk, C)
  Quantized dlogits8;  // (chunk, V)

  Fp8Head(Context& context, const Tensor& hidden, const Quantized& h_scale, const Quantized& weight,
          const LossOptions& options)
      : ctx(context), h(hidden), w(weight), h8(h_scale) {
    const int64_t chunk = std::min(options.chunk, h.shape[0]);
    const auto room = [&](Quantized& q, DType dtype, int64_t width) {
      q.rows = ctx.workspace.take(dtype, {chunk, width});
      q.transposed = ctx.workspace.take(dtype, {width, chunk});
    };
    room(h8, DType::F8E4M3, h.shape[1]);
    room(dlogits8, DType::F8E5M2, w.rows.shape[0]);
    dlogits8.scale = ctx.workspace.take(DType::F32, {1});
    dlogits8.inverse = ctx.workspace.take(DType::F32, {1});
  }

  // For the gradient of the logits, scale · (softmax - onehot) and a little more with a z-loss.
  void set_gradient_scale(const Tensor& scale) const {
    INGOT_DISPATCH(scale, logits_gradient_scale, ctx, scale, dlogits8.scale, dlogits8.inverse);
  }

  // The first `count` tokens' worth of q's memory.
  static Quantized part(const Quantized& q, int64_t count) {
    const auto part_of = [](const Tensor& t, Shape shape) {
      return Tensor::contiguous(t.data, t.dtype, shape, t.device);
    };
    const int64_t width = q.rows.shape[1];
    return {part_of(q.rows, {count, width}), part_of(q.transposed, {width, count}), q.scale,
            q.inverse, q.amax};
  }

  void logits(int64_t first, int64_t end, const Tensor& logits) const {
    const Quantized rounded = part(h8, end - first);
    quantize(ctx, h.slice(0, first, end), rounded);
    linear_forward(ctx, rounded, w, logits);
  }
  void gradients(int64_t first, int64_t end, const Tensor& dlogits, const Tensor& dh,
                 const Tensor& dw, Accumulate accumulate) const {
    const Quantized rounded = part(dlogits8, end - first);
    quantize(ctx, dlogits, rounded);
    linear_backward_weight(ctx, rounded, part(h8, end - first), dw, accumulate);
    linear_backward_input(ctx, rounded, w, dh.slice(0, first, end), Accumulate::No);
  }
};

// Calls f(first, end, logits(end - first, V)) for each chunk of the rows of h, the logits computed.
template <class Head, class F>
void for_logits(Context& ctx, const Head& head, int64_t V, const LossOptions& options, const F& f) {
  const int64_t N = head.h.shape[0];
  const int64_t chunk = std::min(options.chunk, N);
  const Workspace::Scope scope(ctx.workspace);
  const Tensor logits =
      ctx.workspace
          .take(logits_dtype(ctx.facts, head.h.dtype), {chunk, logits_stride(ctx.facts, V)})
          .slice(1, 0, V);
  for (int64_t first = 0; first < N; first += chunk) {
    const int64_t end = std::min(first + chunk, N);
    const Tensor rows = logits.slice(0, 0, end - first);
    head.logits(first, end, rows);
    f(first, end, rows);
  }
}

void check_scale(const char* op, const Context& ctx, const Tensor& scale) {
  check_dtype(op, "scale", scale, DType::F64);
  check_shape(op, "scale", scale, {1});
  runs_on_cuda(ctx, scale);  // throws when it lies elsewhere
}

void check_gradients(const char* op, const Tensor& h, const Tensor& dh, const Tensor& dw) {
  check_float(op, "dh", dh);
  check_dtype(op, "dh", dh, h.dtype);
  check_shape(op, "dh", dh, h.shape);
  check_float(op, "dw", dw);
  check_dtype(op, "dw", dw, accumulation_dtype(h.dtype));
}

template <class Head>
void loss_forward(Context& ctx, const Head& head, int64_t V, const Tensor& targets,
                  const LossOptions& options, const Tensor& losses) {
  for_logits(ctx, head, V, options, [&](int64_t first, int64_t end, const Tensor& logits) {
    INGOT_DISPATCH(logits, cross_entropy, ctx, logits, targets.slice(0, first, end), options,
                   losses.slice(0, first, end));
  });
}

template <class Head>
void loss_backward(Context& ctx, const Head& head, const Tensor& targets,
                   const LossOptions& options, const Tensor& scale, const Tensor& losses,
                   const Tensor& dh, const Tensor& dw, Accumulate accumulate) {
  check_gradients("lm_head_loss_backward", head.h, dh, dw);
  check_scale("lm_head_loss_backward", ctx, scale);
  const int64_t V = dw.shape[0];
  for_logits(ctx, head, V, options, [&](int64_t first, int64_t end, const Tensor& logits) {
    INGOT_DISPATCH(logits, cross_entropy_gradient, ctx, logits, targets.slice(0, first, end),
                   options, scale, losses.slice(0, first, end));
    head.gradients(first, end, /*dlogits=*/logits, dh, dw, accumulate);
    accumulate = Accumulate::Yes;
  });
}

// Losses of each chunk of a shard's tokens, and where scale is defined their gradient in place of
// the logits, which f(first, end, dlogits) takes from there.
template <class F>
void for_shard_losses(Context& ctx, const PlainHead& head, const VocabularyShard& shard,
                      const Tensor& targets, const LossOptions& options, const Tensor& scale,
                      const Tensor& losses, const F& f) {
  const Workspace::Scope scope(ctx.workspace);
  const int64_t chunk = std::min(options.chunk, head.h.shape[0]);
  const DType acc = accumulation_dtype(head.h.dtype);
  const Tensor own = ctx.workspace.take(acc, {chunk, 3});
  const Tensor all = ctx.workspace.take(acc, {shard.num_shards, chunk, 3});
  for_logits(ctx, head, head.w.shape[0], options,
             [&](int64_t first, int64_t end, const Tensor& logits) {
               const int64_t n = end - first;
               const Tensor ids = targets.slice(0, first, end);
               const Tensor part = own.slice(0, 0, n);  // (n, 3)
               const Tensor parts =                     // (R, n, 3)
                   Tensor::contiguous(all.data, acc, {shard.num_shards, n, 3}, all.device);
               cross_entropy_statistics(ctx, logits, ids, shard.first, options, part);
               shard.gather(part, parts);
               cross_entropy_from_statistics(ctx, logits, ids, shard.first, options, parts, scale,
                                             losses.slice(0, first, end));
               f(first, end, logits);
             });
}

// What both ops on logits are given.
void check_logits(const char* op, const Tensor& logits, const Tensor& targets) {
  check_float(op, "logits", logits);
  check_rank(op, "logits", logits, 2);
  check_dtype(op, "targets", targets, DType::I32);
  check_shape(op, "targets", targets, {logits.shape[0]});
  check_contiguous(op, "targets", targets);
}

}  // namespace

void cross_entropy_statistics(Context& ctx, const Tensor& logits, const Tensor& targets,
                              int64_t first, const LossOptions& options, const Tensor& statistics) {
  const char* op = "cross_entropy_statistics";
  check_logits(op, logits, targets);
  check_operand(op, "statistics", statistics, {logits.shape[0], 3},
                accumulation_dtype(logits.dtype));
  INGOT_DISPATCH(logits, cross_entropy_statistics, ctx, logits, targets, first, options,
                 statistics);
}

void cross_entropy_from_statistics(Context& ctx, const Tensor& logits, const Tensor& targets,
                                   int64_t first, const LossOptions& options,
                                   const Tensor& statistics, const Tensor& scale,
                                   const Tensor& losses) {
  const char* op = "cross_entropy_from_statistics";
  const DType acc = accumulation_dtype(logits.dtype);
  check_logits(op, logits, targets);
  check_rank(op, "statistics", statistics, 3);
  check_operand(op, "statistics", statistics, {statistics.shape[0], logits.shape[0], 3}, acc);
  check_operand(op, "losses", losses, {logits.shape[0]}, acc);
  if (scale.defined()) check_scale(op, ctx, scale);
  INGOT_DISPATCH(logits, cross_entropy_from_statistics, ctx, logits, targets, first, options,
                 statistics, scale, losses);
}

void lm_head_loss_forward(Context& ctx, const Tensor& h, const Tensor& w,
                          const VocabularyShard& shard, const Tensor& targets,
                          const LossOptions& options, const Tensor& losses) {
  check_weight("lm_head_loss_forward", h, w);
  check_head("lm_head_loss_forward", h, shard.vocab, targets, options, losses);
  for_shard_losses(ctx, PlainHead{ctx, h, w}, shard, targets, options, /*scale=*/{}, losses,
                   [](int64_t, int64_t, const Tensor&) {});
}

void lm_head_loss_backward(Context& ctx, const Tensor& h, const Tensor& w,
                           const VocabularyShard& shard, const Tensor& targets,
                           const LossOptions& options, const Tensor& scale, const Tensor& losses,
                           const Tensor& dh, const Tensor& dw, Accumulate accumulate_dw) {
  const char* op = "lm_head_loss_backward";
  check_weight(op, h, w);
  check_head(op, h, shard.vocab, targets, options, losses);
  check_shape(op, "dw", dw, w.shape);
  check_gradients(op, h, dh, dw);
  check_scale(op, ctx, scale);
  const PlainHead head{ctx, h, w};
  for_shard_losses(ctx, head, shard, targets, options, scale, losses,
                   [&](int64_t first, int64_t end, const Tensor& dlogits) {
                     head.gradients(first, end, dlogits, dh, dw, accumulate_dw);
                     accumulate_dw = Accumulate::Yes;
                   });
}

void lm_head_loss_forward(Context& ctx, const Tensor& h, const Tensor& w, const Tensor& targets,
                          const LossOptions& options, const Tensor& losses) {
  check_weight("lm_head_loss_forward", h, w);
  check_head("lm_head_loss_forward", h, w.shape[0], targets, options, losses);
  loss_forward(ctx, PlainHead{ctx, h, w}, w.shape[0], targets, options, losses);
}

void lm_head_loss_backward(Context& ctx, const Tensor& h, const Tensor& w, const Tensor& targets,
                           const LossOptions& options, const Tensor& scale, const Tensor& losses,
                           const Tensor& dh, const Tensor& dw, Accumulate accumulate_dw) {
  check_weight("lm_head_loss_backward", h, w);
  check_head("lm_head_loss_backward", h, w.shape[0], targets, options, losses);
  check_shape("lm_head_loss_backward", "dw", dw, w.shape);
  loss_backward(ctx, PlainHead{ctx, h, w}, targets, options, scale, losses, dh, dw, accumulate_dw);
}

void lm_head_loss_forward(Context& ctx, const Tensor& h, const Quantized& h8, const Quantized& w,
                          const Tensor& targets, const LossOptions& options, const Tensor& losses) {
  const int64_t V = w.rows.shape[0];
  check_head("lm_head_loss_forward", h, V, targets, options, losses);
  const Workspace::Scope scope(ctx.workspace);
  loss_forward(ctx, Fp8Head(ctx, h, h8, w, options), V, targets, options, losses);
}

void lm_head_loss_backward(Context& ctx, const Tensor& h, const Quantized& h8, const Quantized& w,
                           const Tensor& targets, const LossOptions& options, const Tensor& scale,
                           const Tensor& losses, const Tensor& dh, const Tensor& dw,
                           Accumulate accumulate_dw) {
  check_head("lm_head_loss_backward", h, w.rows.shape[0], targets, options, losses);
  check_shape("lm_head_loss_backward", "dw", dw, w.rows.shape);
  const Workspace::Scope scope(ctx.workspace);
  const Fp8Head head(ctx, h, h8, w, options);
  head.set_gradient_scale(scale);
  loss_backward(ctx, head, targets, options, scale, losses, dh, dw, accumulate_dw);
}

int64_t lm_head_workspace_bytes(const DeviceFacts& facts, DType dtype, int64_t chunk,
                                int64_t vocab) {
  return align_up(chunk * logits_stride(facts, vocab) * size_of(logits_dtype(facts, dtype))) +
         matmul_workspace_bytes(facts);
}

int64_t lm_head_shard_workspace_bytes(const DeviceFacts& facts, DType dtype, int64_t chunk,
                                      int64_t vocab, int64_t num_shards) {
  const int64_t statistics = chunk * 3 * size_of(accumulation_dtype(dtype));
  return lm_head_workspace_bytes(facts, dtype, chunk, vocab) + align_up(statistics) +
         align_up(num_shards * statistics);
}

int64_t lm_head_fp8_workspace_bytes(const DeviceFacts& facts, DType dtype, int64_t chunk,
                                    int64_t vocab, int64_t width) {
  return lm_head_workspace_bytes(facts, dtype, chunk, vocab) + 2 * align_up(chunk * vocab) +
         2 * align_up(chunk * width) + 2 * align_up(size_of(DType::F32));
}

}  // namespace ingot
