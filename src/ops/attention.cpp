#include "ops/attention.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>

#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/common/rope_checks.h"
#include "ops/cpu/attention_plan.h"
#include "ops/cuda/attention/scratch.h"
#include "ops/kernels/attention.h"

namespace ingot {
namespace cpu {
namespace {

// Tasks that few, long sequences are cut into. Every cut packs K and V (backward also Q and dout)
// once more: with 64 in place of 24, backward at B 2, H 12, T 512, D 64 took 5 % longer.
constexpr int64_t kWantedTasks = 24;
// Bounds a thread's scratch whatever T is: 0.7 MB at D 32, 2.7 MB at D 128.
constexpr int64_t kMaxSegmentBlocks = 6;
// The widest tile's lanes: packed rows are padded to at most this.
constexpr int64_t kMaxTileLanes = 32;

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

AttentionPlan plan_attention(int64_t num_heads, int64_t Tq, int64_t Tk) {
  const int64_t num_blocks = ceil_div(std::max(Tq, Tk), kQueryBlock);
  const int64_t wanted =
      std::max(ceil_div(kWantedTasks, num_heads), ceil_div(num_blocks, kMaxSegmentBlocks));
  const int64_t segment_blocks = ceil_div(num_blocks, std::clamp<int64_t>(wanted, 1, num_blocks));
  const int64_t num_segments = ceil_div(num_blocks, segment_blocks);
  const auto rows = [&](int64_t T) {
    return ceil_div(T, num_segments * kQueryBlock) * kQueryBlock;
  };
  return {num_segments, rows(Tq), rows(Tk)};
}

int64_t attention_thread_bytes(const AttentionPlan& plan, DType dtype, int64_t D) {
  const int64_t element = dtype == DType::F64 ? 8 : 4;
  const int64_t padded = ceil_div(D, kMaxTileLanes) * kMaxTileLanes;
  // Backward, the larger of the two: K, V, dK, dV; Q and dout as rows and as columns, dQ; the
  // blocks of weights and dscores, and of BF16 three in pairs; four values a query; ranges of tiles
  // of at least 4 queries. Pairs of Q, K, V and dout take no more than numbers.
  const int64_t num_blocks = dtype == DType::BF16 ? 4 : 2;
  const int64_t elements = (4 * plan.key_segment + 5 * plan.query_segment) * padded +
                           num_blocks * kKeyBlock * kQueryBlock + 4 * plan.query_segment;
  const int64_t ranges = 4 * (plan.query_segment / 4) * 16;
  constexpr int64_t kNumArrays = 24, kArrayPadding = 64;
  return align_up(elements * element + ranges + kNumArrays * kArrayPadding);
}

std::byte* attention_thread_scratch(int64_t bytes) {
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  thread_local std::unique_ptr<std::byte, Free> memory;
  thread_local int64_t size = 0;
  if (bytes > size) {
    memory.reset();  // before the next, so that both never exist
    size = 0;
    memory.reset(
        static_cast<std::byte*>(std::aligned_alloc(kArenaAlignment, static_cast<size_t>(bytes))));
    if (!memory) throw std::bad_alloc();
    size = bytes;
  }
  return memory.get();
}

// The F32 sums of BF16 gradients that more than one task adds to: dq, dk and dv of all heads.
int64_t attention_wide_bytes(const AttentionPlan& plan, DType dtype, int64_t B, int64_t Tq,
                             int64_t Tk, int64_t H, int64_t G, int64_t D) {
  if (dtype != DType::BF16 || plan.num_segments == 1) return 0;
  return align_up(B * Tq * H * D * 4) + 2 * align_up(B * Tk * G * D * 4);
}

}  // namespace cpu

namespace {

constexpr std::string_view kOp = "attention";

void check_heads(std::string_view name, const Tensor& tensor, DType dtype, const Shape& shape) {
  check_float(kOp, name, tensor);
  check_dtype(kOp, name, tensor, dtype);
  check_shape(kOp, name, tensor, shape);
}

void check_documents(const Context& ctx, const AttentionOptions& options, int64_t B, int64_t Tq,
                     int64_t Tk) {
  const Tensor& start = options.document_start;
  if (!start.defined()) return;
  check(options.causal && Tq == Tk, ErrorCode::Internal,
        "attention: document_start needs causal and Tq == Tk, got causal {}, Tq {}, Tk {}",
        options.causal, Tq, Tk);
  check_dtype(kOp, "document_start", start, DType::I32);
  check_shape(kOp, "document_start", start, {B, Tq});
  const int64_t count = options.num_documents, longest = options.max_document_tokens;
  check((count == 0 || (count >= B && count <= B * Tq)) && longest >= 0 && longest <= Tq,
        ErrorCode::Internal,
        "attention: expected {} to {} documents of up to {} tokens, got {} of up to {}", B, B * Tq,
        Tq, count, longest);
  if (ctx.device.kind == DeviceKind::Cuda) return;  // reading them would wait for the GPU
  int64_t num_documents = 0, max_tokens = 0;
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t t = 0; t < Tq; ++t) {
      const int32_t first = start.as<int32_t>()[b * start.strides[0] + t * start.strides[1]];
      check(first >= 0 && first <= t, ErrorCode::Data,
            "document_start of token {} in row {}: expected 0 to {}, got {}", t, b, t, first);
      num_documents += first == t ? 1 : 0;
      max_tokens = std::max(max_tokens, t + 1 - first);
    }
  }
  check((count == 0 || count == num_documents) && (longest == 0 || longest >= max_tokens),
        ErrorCode::Internal,
        "attention: document_start has {} documents of up to {} tokens, the options say {} of up "
        "to {}",
        num_documents, max_tokens, count, longest);
}

// Shared by both directions; returns the options with the scale they stand for.
AttentionOptions check_attention(const Context& ctx, const AttentionTensors& t,
                                 AttentionOptions options) {
  const Tensor &q = t.q, &k = t.k;
  check_rank(kOp, "q", q, 4);
  check_rank(kOp, "k", k, 4);
  const int64_t B = q.shape[0], Tq = q.shape[1], H = q.shape[2], D = q.shape[3];
  const int64_t Tk = k.shape[1], G = k.shape[2];
  check(q.numel() > 0 && k.numel() > 0, ErrorCode::Internal,
        "attention: no extent may be 0, got q {} and k {}", q.shape, k.shape);
  check(H % G == 0, ErrorCode::Config,
        "attention: key-value heads must divide heads, got {} heads and {} groups", H, G);
  check_heads("q", q, q.dtype, q.shape);
  check_heads("k", k, q.dtype, {B, Tk, G, D});
  check_heads("v", t.v, q.dtype, {B, Tk, G, D});
  check_heads("out", t.out, q.dtype, q.shape);
  check_dtype(kOp, "lse", t.lse, accumulation_dtype(q.dtype));
  check_shape(kOp, "lse", t.lse, {B, H, Tq});
  check_contiguous(kOp, "lse", t.lse);
  check(!options.causal || Tq <= Tk, ErrorCode::Internal,
        "attention: causal needs at most as many queries as keys, got {} and {}", Tq, Tk);
  check(options.window == 0 || (options.window > 0 && options.causal), ErrorCode::Config,
        "attention: a window must be positive and causal, got {}", options.window);
  check(options.softcap >= 0.0, ErrorCode::Config,
        "attention: a soft cap must not be negative, got {}", options.softcap);
  // Key positions are compared as floats.
  check(Tk < int64_t{1} << 24, ErrorCode::Config,
        "attention: expected fewer than 2^24 keys, got {}", Tk);
  check_documents(ctx, options, B, Tq, Tk);
  if (options.scale == 0.0) options.scale = 1.0 / std::sqrt(static_cast<double>(D));
  return options;
}

AttentionOptions check_backward(const Context& ctx, const AttentionTensors& t,
                                const AttentionGradients& d, const AttentionOptions& options) {
  const AttentionOptions scaled = check_attention(ctx, t, options);
  check_heads("dout", d.dout, t.q.dtype, t.q.shape);
  check_heads("dq", d.dq, t.q.dtype, t.q.shape);
  check_heads("dk", d.dk, t.q.dtype, t.k.shape);
  check_heads("dv", d.dv, t.q.dtype, t.v.shape);
  return scaled;
}

// Whether the kernels with BF16 instructions run.
bool multiplies_bf16(const Tensor& q) {
  return q.dtype == DType::BF16 && q.device.kind == DeviceKind::Cpu &&
         cpu::active_dot_isa() == cpu::DotIsa::Avx512Bf16;
}

void backward(Context& ctx, const AttentionTensors& tensors, const AttentionGradients& gradients,
              const AttentionOptions& scaled) {
  if (multiplies_bf16(tensors.q))
    return cpu::avx512_bf16::attention_backward(ctx, tensors, gradients, scaled);
  INGOT_DISPATCH(tensors.q, attention_backward, ctx, tensors, gradients, scaled);
}

}  // namespace

void attention_forward(Context& ctx, const AttentionTensors& tensors,
                       const AttentionOptions& options) {
  const AttentionOptions scaled = check_attention(ctx, tensors, options);
  if (multiplies_bf16(tensors.q)) return cpu::avx512_bf16::attention_forward(ctx, tensors, scaled);
  INGOT_DISPATCH(tensors.q, attention_forward, ctx, tensors, scaled);
}

void attention_backward(Context& ctx, const AttentionTensors& tensors,
                        const AttentionGradients& gradients, const AttentionOptions& options) {
  backward(ctx, tensors, gradients, check_backward(ctx, tensors, gradients, options));
}

void attention_rope_backward(Context& ctx, const AttentionTensors& tensors,
                             const AttentionGradients& gradients, const AttentionOptions& options,
                             const RopeInput& rope) {
  constexpr const char* kRotating = "attention_rope_backward";
  const AttentionOptions scaled = check_backward(ctx, tensors, gradients, options);
  const int64_t Tq = tensors.q.shape[1], Tk = tensors.k.shape[1];
  check(Tq == Tk, ErrorCode::Internal, "{}: expected as many queries as keys, got {} and {}",
        kRotating, Tq, Tk);
  for (const Tensor* heads : {&gradients.dq, &gradients.dk})
    check_rotation(kRotating, *heads, rope);
  if (runs_on_cuda(ctx, tensors.q) &&
      cuda::attention_rope_backward(ctx, tensors, gradients, scaled, rope))
    return;
  backward(ctx, tensors, gradients, scaled);
  for (const Tensor* heads : {&gradients.dq, &gradients.dk}) rope_backward(ctx, *heads, rope);
}

int64_t attention_workspace_bytes(const DeviceFacts& facts, const AttentionCalls& c) {
  if (facts.kind == DeviceKind::Cuda) return cuda::attention_workspace_bytes(facts, c);
  const cpu::AttentionPlan plan = cpu::plan_attention(c.B * c.G, c.Tq, c.Tk);
  return cpu::attention_wide_bytes(plan, c.dtype, c.B, c.Tq, c.Tk, c.H, c.G, c.D);
}

}  // namespace ingot
