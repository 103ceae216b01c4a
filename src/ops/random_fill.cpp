#include "ops/random_fill.h"

#include <algorithm>

#include "core/error.h"
#include "ops/cpu/random_fill.h"

namespace ingot {

void fill_normal(Context& ctx, const RandomStream& stream, uint64_t first_index, float scale,
                 const Tensor& out) {
  check(out.is_contiguous(), ErrorCode::Internal,
        "fill_normal: expected a contiguous tensor, got {}", out);
  check(out.device.kind == DeviceKind::Cpu, ErrorCode::Missing,
        "fill_normal: this build has no backend for {}", out.device);
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
