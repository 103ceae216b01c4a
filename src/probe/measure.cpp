#include "probe/measure.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "core/system/timing.h"
#include "ops/matmul.h"
#include "ops/memory.h"
#include "probe/fma_rate.h"
#include "probe/op_run.h"
#include "probe/operands.h"
#include "probe/timing.h"

namespace ingot {
namespace {

double seconds_of_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

PeakRate cpu_peak(Context& ctx) {
  using Clock = std::chrono::steady_clock;
  constexpr int64_t kRounds = 1'000'000;  // 2 to 3 ms a thread: longer than a pool's wake-up
  constexpr int kRepeats = 15;
  struct Time {
    double flops = 0.0, computing = 0.0, passed = 0.0;
  };
  std::vector<Time> times(static_cast<size_t>(ctx.pool->num_threads()));
  const auto measure = [&] {
    ctx.pool->run(ctx.pool->num_threads(), [&](int64_t task, int) {
      Time& time = times[static_cast<size_t>(task)];
      const auto begin = Clock::now();
      const double begin_computing = seconds_of_thread();
      time.flops = INGOT_CPU_DISPATCH(run_fmas, kRounds);
      time.computing = seconds_of_thread() - begin_computing;
      time.passed = std::chrono::duration<double>(Clock::now() - begin).count();
    });
  };
  measure();  // warms up
  PeakRate peak;
  double computing = 0.0, passed = 0.0;
  for (int i = 0; i < kRepeats; ++i) {
    measure();
    double flops = 0.0;
    for (const Time& time : times) {
      flops += time.flops / time.computing;
      computing += time.computing;
      passed += time.passed;
    }
    peak.flops = std::max(peak.flops, flops);
  }
  peak.busy = std::max(0.0, 1.0 - computing / passed);
  return peak;
}

double cuda_peak_flops(const Context& ctx) {
  constexpr int64_t kSide = 8192;
  constexpr double kFlops = 2.0 * kSide * kSide * kSide;
  Operands operands(ctx);
  Context own = operands.with_workspace(matmul_workspace_bytes(ctx.facts));
  const Tensor x = operands.random(DType::BF16, {kSide, kSide});
  const Tensor w = operands.random(DType::BF16, {kSide, kSide});
  const Tensor y = operands.zeros(DType::BF16, {kSide, kSide});
  const auto gemm = [&] { linear_forward(own, x, w, y); };
  gemm();
  std::vector<double> times;
  for (int i = 0; i < 15; ++i) times.push_back(seconds_of(own, gemm));
  return kFlops / median_of(times);
}

double cpu_copy_bandwidth(Context& ctx) {
  constexpr int64_t kChunk = int64_t{256} << 10;
  const int64_t half = cold_bytes(ctx.facts) / 2;
  Operands operands(ctx);
  // Written before it is read: the kernel backs untouched pages by one page of zeros.
  const auto* from = static_cast<std::byte*>(operands.random(DType::F32, {half / 4}).data);
  auto* to = static_cast<std::byte*>(operands.zeros(DType::F32, {half / 4}).data);
  // The call that warms up also pays for the pages.
  const double seconds = best_seconds(ctx, 5, [&] {
    ctx.pool->run(half / kChunk, [&](int64_t task, int) {
      std::memcpy(to + task * kChunk, from + task * kChunk, static_cast<size_t>(kChunk));
    });
  });
  return 2.0 * static_cast<double>(half) / seconds;
}

// Sums of 64-bit words, eight chains a thread: as wide as vectors are, and nothing else to wait
// for.
double cpu_read_bandwidth(Context& ctx) {
  constexpr int64_t kChunkWords = int64_t{32} << 10, kChains = 64;
  const int64_t words = 4 * cold_bytes(ctx.facts) / 8, chunks = words / kChunkWords;
  Operands operands(ctx);
  const auto* from = static_cast<uint64_t*>(operands.random(DType::F32, {2 * words}).data);
  std::vector<uint64_t> sums(static_cast<size_t>(chunks));
  const double seconds = best_seconds(ctx, 5, [&] {
    ctx.pool->run(chunks, [&](int64_t task, int) {
      const uint64_t* chunk = from + task * kChunkWords;
      uint64_t chains[kChains] = {};
      for (int64_t i = 0; i < kChunkWords; i += kChains)
        for (int64_t c = 0; c < kChains; ++c) chains[c] += chunk[i + c];
      sums[static_cast<size_t>(task)] = std::accumulate(chains, chains + kChains, uint64_t{0});
    });
  });
  return 8.0 * static_cast<double>(chunks * kChunkWords) / seconds;
}

double cuda_copy_bandwidth(Context& ctx) {
  constexpr int64_t kBytes = int64_t{1} << 30;
  Operands operands(ctx);
  const Tensor from = operands.random(DType::F32, {kBytes / 4});
  const Tensor to = operands.zeros(DType::F32, {kBytes / 4});
  return 2.0 * static_cast<double>(kBytes) / best_seconds(ctx, 5, [&] { copy(ctx, from, to); });
}

}  // namespace

// 32 MiB of cache on the CPUs we use; on a GPU what it says, and 160 MiB
// at least, which suits the 50 MiB of an H100 or H200.
int64_t cold_bytes(const DeviceFacts& facts) {
  return facts.kind == DeviceKind::Cuda ? std::max(int64_t{160} << 20, 3 * facts.l2_bytes)
                                        : int64_t{96} << 20;
}

PeakRate measure_peak(Context& ctx) {
  if (ctx.device.kind == DeviceKind::Cpu) return cpu_peak(ctx);
  return {.flops = cuda_peak_flops(ctx)};
}

double measure_peak_flops(Context& ctx) {
  return measure_peak(ctx).flops;
}

double measure_copy_bandwidth(Context& ctx) {
  return ctx.device.kind == DeviceKind::Cpu ? cpu_copy_bandwidth(ctx) : cuda_copy_bandwidth(ctx);
}

double measure_read_bandwidth(Context& ctx) {
  return ctx.device.kind == DeviceKind::Cpu ? cpu_read_bandwidth(ctx) : cuda_copy_bandwidth(ctx);
}

MachineLimits measure_limits(Context& ctx) {
  return {measure_peak_flops(ctx), measure_copy_bandwidth(ctx)};
}

OpTiming bench_op(Context& ctx, const OpCase& op_case, const MachineLimits& limits) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kEnough{300};
  const DType dtype = bench_dtype(ctx.device);
  const int64_t enough_bytes = cold_bytes(ctx.facts);
  std::vector<std::unique_ptr<OpRun>> sets;
  size_t next = 0;
  const auto call = [&] {
    OpRun& run = *sets[next++ % sets.size()];
    run.forward_only();
    if (op_case.backward) run.backward_only();
  };
  do {
    sets.push_back(std::make_unique<OpRun>(op_case, dtype, dtype, ctx));
    call();  // warms the new set
  } while (sets.front()->bytes() * static_cast<int64_t>(sets.size()) < enough_bytes);

  std::vector<double> times;
  for (const auto start = Clock::now(); times.size() < 5 || Clock::now() - start < kEnough;)
    times.push_back(seconds_of(ctx, call));
  OpTiming timing;
  timing.seconds = median_of(times);
  timing.gflops = op_case.flops / timing.seconds * 1e-9;
  timing.gbytes_s = op_case.bytes(dtype) / timing.seconds * 1e-9;
  const double least = std::max(op_case.flops / limits.peak_flops,
                                op_case.bytes(dtype) / limits.copy_bytes_per_second);
  timing.percent_of_roofline = 100.0 * least / timing.seconds;
  return timing;
}

}  // namespace ingot
