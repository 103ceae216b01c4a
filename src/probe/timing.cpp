#include "probe/timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/device/compute_device.h"
#include "core/system/timing.h"

namespace ingot {
namespace {

double seconds_of_calls(Context& ctx, int64_t calls, const std::function<void()>& body) {
  synchronize(ctx);
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < calls; ++i) body();
  synchronize(ctx);
  return seconds_since(start);
}

}  // namespace

double seconds_of(Context& ctx, const std::function<void()>& body) {
  if (ctx.device.kind == DeviceKind::Cpu) return seconds_of_calls(ctx, 1, body);
  // A launch and a wait cost some 10 µs, which 5 ms dwarf.
  constexpr double kBatchSeconds = 5e-3;
  for (int64_t calls = 1;;) {
    const double seconds = seconds_of_calls(ctx, calls, body);
    if (seconds >= kBatchSeconds) return seconds / static_cast<double>(calls);
    const double wanted = std::ceil(1.2 * kBatchSeconds / std::max(seconds, 1e-6));
    calls *= static_cast<int64_t>(std::max(2.0, wanted));
  }
}

double best_seconds(Context& ctx, int repeats, const std::function<void()>& body) {
  body();
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < repeats; ++i) best = std::min(best, seconds_of(ctx, body));
  return best;
}

}  // namespace ingot
