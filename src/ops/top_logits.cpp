#include "ops/top_logits.h"

#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/kernels/top_logits.h"

namespace ingot {

void top_logits(Context& ctx, const Tensor& logits, int64_t below, double softcap,
                const Tensor& top) {
  constexpr const char* kOp = "top_logits";
  check(runs_on_cuda(ctx, logits), ErrorCode::Internal, "{}: is for a GPU, got a context on {}",
        kOp, ctx.device);
  check_dtype(kOp, "logits", logits, DType::F32);
  check_rank(kOp, "logits", logits, 2);
  check_contiguous(kOp, "logits", logits);
  check(below > 0 && below <= logits.shape[1], ErrorCode::Internal,
        "{}: expected ids below 1 to {}, got {}", kOp, logits.shape[1], below);
  check_dtype(kOp, "top", top, DType::I32);
  check_shape(kOp, "top", top, {logits.shape[0], kTopLogitsWords});
  check_contiguous(kOp, "top", top);
  if (logits.shape[0] > 0) cuda::top_logits(ctx, logits, below, softcap, top);
}

// Of each pass but the last, what its blocks keep, with a word of flags each.
int64_t top_logits_workspace_bytes(const DeviceFacts& facts, int64_t N, int64_t V) {
  const auto chunks_of = [](int64_t n) { return (n + cuda::kTopChunk - 1) / cuda::kTopChunk; };
  int64_t bytes = 0;
  if (facts.kind == DeviceKind::Cpu) return bytes;
  for (int64_t chunks = chunks_of(V); chunks > 1; chunks = chunks_of(chunks * kTopLogits))
    bytes += align_up(N * chunks * kTopLogits * 2 * size_of(DType::I32)) +
             align_up(N * chunks * size_of(DType::I32));
  return bytes;
}

}  // namespace ingot
