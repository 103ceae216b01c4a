#include <gtest/gtest.h>

#include "core/thread_pool.h"
#include "probe/cases.h"
#include "probe/op_run.h"

namespace ingot {
namespace {

// The bench itself runs them on a GPU only; what they call is the same here.
TEST(Fp8BenchCases, RunInTheirOwnMemory) {
  ThreadPool pool(2);
  Context ctx;
  ctx.pool = &pool;
  const BenchShape small{.dtype = DType::BF16, .B = 2, .T = 32, .C = 64, .F = 48};
  for (const OpCase& op_case : fp8_bench_cases(small)) {
    OpRun run(op_case, DType::BF16, DType::BF16, ctx);
    run.forward();
    run.backward();
    EXPECT_EQ(run.damage(), "") << op_case.name;
    EXPECT_GT(op_case.bytes(DType::BF16), 0) << op_case.name;
  }
}

}  // namespace
}  // namespace ingot
