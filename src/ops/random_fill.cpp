#include "ops/random_fill.h"

#include <algorithm>

#include "ops/checks.h"
#include "ops/dispatch.h"
#include "ops/kernels/random_fill.h"

namespace ingot {

void fill_normal(Context& ctx, const RandomStream& stream, uint64_t first_index, float scale,
                 const Tensor& out) {
  check_dtype("fill_normal", "out", out, DType::F32);
  check_contiguous("fill_normal", "out", out);
  if (runs_on_cuda(ctx, out)) return cuda::fill_normal(ctx, stream, first_index, scale, out);
  auto* values = out.as<float>();
  constexpr int64_t kPerTask = 64 * 1024;
  const int64_t n = out.numel();
  ctx.pool->run((n + kPerTask - 1) / kPerTask, [&](int64_t task, int) {
    const int64_t begin = task * kPerTask;
    INGOT_CPU_DISPATCH(fill_normal, stream, first_index + static_cast<uint64_t>(begin), scale,
                       values + begin, std::min(kPerTask, n - begin));
  });
}

}  // namespace ingot
