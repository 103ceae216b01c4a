#include "probe/measure.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "core/arena.h"
#include "probe/fma_rate.h"
#include "probe/op_run.h"

namespace ingot {
namespace {

// Three times the 32 MiB last-level cache of the machines we use.
constexpr int64_t kColdBytes = int64_t{96} << 20;

template <class F>
double seconds_of(const F& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

double measure_peak_flops(Context& ctx) {
  constexpr int64_t kRounds = 1'000'000;  // 2 to 3 ms a thread: longer than a pool's wake-up
  const int64_t num_threads = ctx.pool->num_threads();
  double best = 0.0;
  for (int repeat = 0; repeat < 15; ++repeat) {
    std::vector<double> flops(static_cast<size_t>(num_threads));
    const double seconds = seconds_of([&] {
      ctx.pool->run(num_threads, [&](int64_t task, int) {
        flops[static_cast<size_t>(task)] = INGOT_CPU_DISPATCH(run_fmas, kRounds);
      });
    });
    best = std::max(best, static_cast<double>(num_threads) * flops[0] / seconds);
  }
  return best;
}

double measure_copy_bandwidth(Context& ctx) {
  constexpr int64_t kChunk = int64_t{256} << 10;
  const int64_t half = kColdBytes / 2;
  Arena arena(Device::cpu(), 2 * half);
  auto* from = static_cast<std::byte*>(arena.place(0, DType::U8, {half}).data);
  std::byte* to = from + half;
  double best = 0.0;
  for (int repeat = 0; repeat < 6; ++repeat) {
    const double seconds = seconds_of([&] {
      ctx.pool->run(half / kChunk, [&](int64_t task, int) {
        std::memcpy(to + task * kChunk, from + task * kChunk, static_cast<size_t>(kChunk));
      });
    });
    // The first round also pays for the pages.
    if (repeat > 0) best = std::max(best, 2.0 * static_cast<double>(half) / seconds);
  }
  return best;
}

MachineLimits measure_limits(Context& ctx) {
  return {measure_peak_flops(ctx), measure_copy_bandwidth(ctx)};
}

OpTiming bench_op(Context& ctx, const OpCase& op_case, const MachineLimits& limits) {
  constexpr double kEnoughSeconds = 0.3;
  std::vector<std::unique_ptr<OpRun>> sets;
  do {
    sets.push_back(std::make_unique<OpRun>(op_case, DType::F32, DType::F32, *ctx.pool));
    sets.back()->forward();
    sets.back()->backward();
  } while (sets.front()->bytes() * static_cast<int64_t>(sets.size()) < kColdBytes);

  std::vector<double> times;
  double total = 0.0;
  for (size_t i = 0; total < kEnoughSeconds || times.size() < 5; ++i) {
    OpRun& run = *sets[i % sets.size()];
    times.push_back(seconds_of([&] {
      run.forward_only();
      if (op_case.backward) run.backward_only();
    }));
    total += times.back();
  }
  std::nth_element(times.begin(), times.begin() + static_cast<int64_t>(times.size() / 2),
                   times.end());
  OpTiming timing;
  timing.seconds = times[times.size() / 2];
  timing.gflops = op_case.flops / timing.seconds * 1e-9;
  timing.gbytes_s = op_case.bytes / timing.seconds * 1e-9;
  const double least =
      std::max(op_case.flops / limits.peak_flops, op_case.bytes / limits.copy_bytes_per_second);
  timing.percent_of_roofline = 100.0 * least / timing.seconds;
  return timing;
}

}  // namespace ingot
