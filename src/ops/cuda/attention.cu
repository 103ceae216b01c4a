#include "ops/cuda/attention.h"

#include <algorithm>

#include "ops/cuda/attention_fallback.h"
#include "ops/cuda/cudnn_attention.h"

namespace ingot::cuda {
namespace {

// Building cuDNN's graphs takes 0.7 s each, for one shape only. So lengths as prompts and caches
// have them, other at every call, are not for cuDNN, nor is work that our kernels do in tens of
// microseconds (estimated).
constexpr int64_t kCudnnTokens = 64;                   // T must be a multiple
constexpr int64_t kCudnnProducts = int64_t{64} << 20;  // B·H·T·T·D at least

bool is_for_cudnn(DType dtype, int64_t B, int64_t Tq, int64_t Tk, int64_t H, int64_t D) {
  return (dtype == DType::BF16 || dtype == DType::F16) && Tq == Tk && Tq % kCudnnTokens == 0 &&
         B * H * Tq * Tk * D >= kCudnnProducts;
}

bool is_for_cudnn(const Tensor& q, const Tensor& k, const AttentionOptions& options) {
  return !options.document_start.defined() &&
         is_for_cudnn(q.dtype, q.shape[0], q.shape[1], k.shape[1], q.shape[2], q.shape[3]);
}

}  // namespace

void attention_forward(Context& ctx, const Tensor& q, const Tensor& k, const Tensor& v,
                       const AttentionOptions& options, const Tensor& out, const Tensor& lse) {
  if (is_for_cudnn(q, k, options) && cudnn_attention_forward(ctx, q, k, v, options, out, lse))
    return;
  fallback_attention_forward(ctx, q, k, v, options, out, lse);
}

void attention_backward(Context& ctx, const Tensor& dout, const Tensor& q, const Tensor& k,
                        const Tensor& v, const Tensor& out, const Tensor& lse,
                        const AttentionOptions& options, const Tensor& dq, const Tensor& dk,
                        const Tensor& dv) {
  if (is_for_cudnn(q, k, options) &&
      cudnn_attention_backward(ctx, dout, q, k, v, out, lse, options, dq, dk, dv))
    return;
  fallback_attention_backward(ctx, dout, q, k, v, out, lse, options, dq, dk, dv);
}

int64_t attention_workspace_bytes(const Context& ctx, DType dtype, int64_t B, int64_t Tq,
                                  int64_t Tk, int64_t H, int64_t G, int64_t D) {
  // Documents send any shape to our kernels.
  const int64_t fallback = fallback_attention_workspace_bytes(dtype, B, Tq, H);
  if (!is_for_cudnn(dtype, B, Tq, Tk, H, D)) return fallback;
  return std::max(fallback, cudnn_attention_workspace_bytes(ctx, dtype, B, Tq, H, G, D));
}

}  // namespace ingot::cuda
