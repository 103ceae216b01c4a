// Which of the implementations runs, by shapes, layout, dtype and mask alone.
#include "ops/kernels/attention.h"
#include "core/cuda/cuda_context.h"
#include "ops/cuda/attention/cudnn.h"
#include "ops/cuda/attention/fallback.h"
#include "ops/cuda/attention/hopper.h"
#include "ops/cuda/attention/scratch.h"

namespace ingot::cuda {
namespace {

bool is_for_cudnn(const AttentionTensors& t, const AttentionOptions& options) {
  // Under a soft cap cuDNN takes no documents.
  const bool taken =
      !options.document_start.defined() || (options.num_documents > 0 && options.softcap == 0.0);
  return taken && cuda::is_for_cudnn(t.q.dtype, t.q.shape[0], t.q.shape[1], t.k.shape[1],
                                     t.q.shape[2], t.q.shape[3]);
}

// Where there are as many documents as rows, each row is one, and nothing to mask.
AttentionOptions with_needed_documents(AttentionOptions options, int64_t B) {
  if (options.num_documents == B) options.document_start = {};
  return options;
}

int64_t shared_bytes(const Context& ctx) {
  return static_cast<int64_t>(ctx.cuda->properties().sharedMemPerBlockOptin);
}

}  // namespace

void attention_forward(Context& ctx, const AttentionTensors& t, const AttentionOptions& options) {
  const AttentionOptions needed = with_needed_documents(options, t.q.shape[0]);
  if (is_for_cudnn(t, needed) && cudnn_attention_forward(ctx, t, needed)) return;
  fallback_attention_forward(ctx, t, needed, shared_bytes(ctx));
}

void attention_backward(Context& ctx, const AttentionTensors& t, const AttentionGradients& d,
                        const AttentionOptions& options) {
  const AttentionOptions needed = with_needed_documents(options, t.q.shape[0]);
  // What is worth cuDNN's graphs is worth our kernels for Hopper, where they fit.
  if (is_for_cudnn(t, needed) && (hopper_attention_backward(ctx, t, d, needed, {}) ||
                                  cudnn_attention_backward(ctx, t, d, needed)))
    return;
  fallback_attention_backward(ctx, t, d, needed, shared_bytes(ctx));
}

bool attention_rope_backward(Context& ctx, const AttentionTensors& t, const AttentionGradients& d,
                             const AttentionOptions& options, const RopeInput& rope) {
  const AttentionOptions needed = with_needed_documents(options, t.q.shape[0]);
  return is_for_cudnn(t, needed) && hopper_attention_backward(ctx, t, d, needed, rope);
}

}  // namespace ingot::cuda
