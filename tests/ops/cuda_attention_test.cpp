// The backward pass that Context::deterministic = false allows, which no OpCase takes, and that the
// other one repeats itself.
#include <map>

#include "op_case_rig.h"
#include "support/on_gpu.h"

namespace ingot::test {
namespace {

class CudaAttention : public OnGpu<::testing::Test> {};

TEST_F(CudaAttention, TheFastBackwardAgreesWithDoubleOnTheCpu) {
  Context fast = gpu();
  fast.deterministic = false;
  for (const OpCase& c : op_large_cases()) {
    if (c.op != "attention") continue;
    SCOPED_TRACE(c.name);
    OpRun exact(c, DType::F64, DType::BF16, cpu());
    OpRun narrow(c, DType::BF16, DType::BF16, fast);
    exact.forward();
    narrow.forward();
    for (const std::string& name : exact.output_names())
      exact.set_values(name, narrow.values(name));
    exact.backward();
    narrow.backward();
    expect_close(narrow, exact, gpu_tolerance(c, DType::BF16));
    EXPECT_EQ(narrow.damage(), "");
  }
}

TEST_F(CudaAttention, TheDeterministicBackwardRepeatsBitForBit) {
  for (const OpCase& c : op_large_cases()) {
    if (c.op != "attention") continue;
    SCOPED_TRACE(c.name);
    OpRun run(c, DType::BF16, DType::BF16, gpu());
    run.forward();
    run.backward();
    std::map<std::string, std::vector<double>> first;
    for (const char* name : {"d.q", "d.k", "d.v"}) first[name] = run.values(name);
    for (int again = 0; again < 5; ++again) {
      run.backward();
      for (const auto& [name, values] : first) EXPECT_EQ(run.values(name), values) << name;
    }
  }
}

}  // namespace
}  // namespace ingot::test
