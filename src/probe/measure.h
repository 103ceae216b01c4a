// What the machine can do, and how close one op comes to it.
#pragma once

#include "core/device/context.h"
#include "probe/op_case.h"

namespace ingot {

struct PeakRate {
  double flops = 0.0;  // a second
  // Share of the time for which the threads waited for a core: that other processes had, or a limit
  // of CPU time withheld. Only of a CPU.
  double busy = 0.0;
};

// On the CPU: F32, of independent fused multiply-adds on all threads of the pool: the arithmetic
// limit of the active ISA, which no GEMM reaches. (Not the rate of our own matmul: a limit measured
// with the code it judges would flatter it.) By the CPU time of the threads, so that other
// processes do not lower it by taking cores, though they may by slowing them down. On a GPU: of an
// 8192³ GEMM of random BF16 numbers, since under load a GPU's clock follows its power and no GEMM
// comes near the data sheet; takes 0.7 GB of its memory. Takes about 0.1 s.
PeakRate measure_peak(Context& ctx);
double measure_peak_flops(Context& ctx);  // flops of that

// Bytes read plus bytes written per second while the device copies buffers larger than its caches.
double measure_copy_bandwidth(Context& ctx);

// What buffers that are used in turn must take together so that none of them is in a cache: three
// times the last-level one.
int64_t cold_bytes(const DeviceFacts& facts);

struct MachineLimits {
  double peak_flops = 0.0;
  double copy_bytes_per_second = 0.0;
};
MachineLimits measure_limits(Context& ctx);

struct OpTiming {
  double seconds = 0.0;  // forward and backward together, median
  double gflops = 0.0;
  double gbytes_s = 0.0;
  // Least time that the case's flops and bytes need under the limits, over the time taken.
  double percent_of_roofline = 0.0;
};

// Times a bench case in bench_dtype() of ctx's device with cold caches: its buffers exist several
// times over, together larger than the last-level cache, and each call takes the next set. Uses
// ctx's device and pool; the workspace is the bench's own.
OpTiming bench_op(Context& ctx, const OpCase& op_case, const MachineLimits& limits);

}  // namespace ingot
