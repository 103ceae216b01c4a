#include "ops/random_fill.h"

#include <algorithm>

#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/kernels/random_fill.h"

namespace ingot {
namespace {

// Elements [begin, begin + n) of out.
void fill_range(const RandomStream& stream, uint64_t first_index, float scale, const Tensor& out,
                int64_t begin, int64_t n) {
  const uint64_t first = first_index + static_cast<uint64_t>(begin);
  if (out.dtype == DType::F32)
    return INGOT_CPU_DISPATCH(fill_normal, stream, first, scale, out.as<float>() + begin, n);
  constexpr int64_t kPiece = 1024;  // drawn on the stack, then widened
  float drawn[kPiece];
  for (int64_t at = 0; at < n; at += kPiece) {
    const int64_t count = std::min(kPiece, n - at);
    INGOT_CPU_DISPATCH(fill_normal, stream, first + static_cast<uint64_t>(at), scale, drawn, count);
    std::copy(drawn, drawn + count, out.as<double>() + begin + at);
  }
}

}  // namespace

void fill_normal(Context& ctx, const RandomStream& stream, uint64_t first_index, float scale,
                 const Tensor& out) {
  const bool on_gpu = runs_on_cuda(ctx, out);
  check_dtype("fill_normal", "out", out, on_gpu ? DType::F32 : accumulation_dtype(out.dtype));
  check_contiguous("fill_normal", "out", out);
  if (on_gpu) return cuda::fill_normal(ctx, stream, first_index, scale, out);
  constexpr int64_t kPerTask = 64 * 1024;
  const int64_t n = out.numel();
  ctx.pool->run((n + kPerTask - 1) / kPerTask, [&](int64_t task, int) {
    const int64_t begin = task * kPerTask;
    fill_range(stream, first_index, scale, out, begin, std::min(kPerTask, n - begin));
  });
}

}  // namespace ingot
