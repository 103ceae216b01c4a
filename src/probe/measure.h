// Measures the limits of a machine, and how close an op comes to them.
#pragma once

#include "core/device/context.h"
#include "probe/op_case.h"

namespace ingot {

struct PeakRate {
  double flops = 0.0;  // per second
  // CPU only: the share of time in which threads waited for a core, because of other processes or a
  // CPU quota.
  double busy = 0.0;
};

// On the CPU: F32 with independent fused multiply-adds on all threads of the pool. That is the
// arithmetic limit of the active ISA, which no GEMM reaches; our own matmul as the limit would
// flatter itself. Uses the threads' CPU time, so that other processes lower it only by slowing down
// the cores. On a GPU: an 8192³ GEMM of random BF16 numbers, since a loaded GPU's clock depends on
// its power and no GEMM reaches the data sheet; uses 0.7 GB of its memory. Takes about 0.1 s.
PeakRate measure_peak(Context& ctx);
double measure_peak_flops(Context& ctx);  // only the flops

// Bytes read plus bytes written per second in copies of buffers larger than the device's caches.
double measure_copy_bandwidth(Context& ctx);

// Bytes read per second of a buffer larger than the device's caches; on a GPU the copy bandwidth.
double measure_read_bandwidth(Context& ctx);

// The total size of alternating buffers such that none of them is in a cache: three times the
// last-level cache.
int64_t cold_bytes(const DeviceFacts& facts);

struct MachineLimits {
  double peak_flops = 0.0;
  double copy_bytes_per_second = 0.0;
};
MachineLimits measure_limits(Context& ctx);

struct OpTiming {
  double seconds = 0.0;  // forward plus backward, median
  double gflops = 0.0;
  double gbytes_s = 0.0;
  // The least time for the case's FLOPs and bytes under the limits, divided by the measured time.
  double percent_of_roofline = 0.0;
};

// Times a bench case in bench_dtype() of ctx's device with cold caches: calls alternate between
// several sets of buffers, together larger than the last-level cache. Uses ctx's device and pool,
// and a workspace of its own.
OpTiming bench_op(Context& ctx, const OpCase& op_case, const MachineLimits& limits);

}  // namespace ingot
