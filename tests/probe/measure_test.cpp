#include "probe/measure.h"

#include <gtest/gtest.h>

#include "core/device/thread_pool.h"

namespace ingot {
namespace {

TEST(BenchOp, CountsTheCasesWorkAgainstTheLimits) {
  ThreadPool pool(1);
  Context ctx;
  ctx.pool = &pool;
  OpCase c;
  c.op = c.name = "nothing";
  c.inputs = {{.name = "x", .shape = {int64_t{8} << 20}, .differentiable = false}};
  int calls = 0;
  c.forward = [&](Context&, const OpTensors&) { ++calls; };
  c.flops = 1e9;
  c.elements = 4e8;
  c.wide_bytes = 4e8;  // 2e9 bytes in F32
  // By bytes the case needs a second, by flops half of one.
  const OpTiming timing = bench_op(ctx, c, {.peak_flops = 2e9, .copy_bytes_per_second = 2e9});
  EXPECT_GT(calls, 5);
  EXPECT_DOUBLE_EQ(timing.gflops, 1.0 / timing.seconds);
  EXPECT_DOUBLE_EQ(timing.gbytes_s, 2.0 / timing.seconds);
  EXPECT_DOUBLE_EQ(timing.percent_of_roofline, 100.0 / timing.seconds);
}

TEST(MachineLimits, ArePositive) {
  ThreadPool pool(2);
  Context ctx;
  ctx.pool = &pool;
  EXPECT_GT(measure_peak_flops(ctx), 1e8);
  EXPECT_GT(measure_copy_bandwidth(ctx), 1e8);
}

}  // namespace
}  // namespace ingot
