// CPU ≡ CUDA: every OpCase on a GPU, the small ones with their odd extents and the large ones.
#include "op_case_rig.h"
#include "support/on_gpu.h"

namespace ingot::test {
namespace {

class CudaOpCases : public OnGpu<::testing::TestWithParam<OpCase>> {
 protected:
  template <class F>
  static void for_dtypes(const F& f) {
    for (DType dtype : GetParam().cuda_dtypes) {
      SCOPED_TRACE(name_of(dtype));
      f(dtype);
    }
  }
};

// Each pass is judged alone: backward starts on both sides from the outputs that the GPU stored.
// (From exact ones, the gradient of causal attention differs by more than bf16's tolerance in 8 of
// 100,000 elements even on the CPU: dout · out cancels where few keys are seen.)
// What has no double is compared in its own type.
TEST_P(CudaOpCases, AgreesWithDoubleOnTheCpu) {
  for_dtypes([&](DType dtype) {
    const DType best = supports(GetParam(), DType::F64) ? DType::F64 : dtype;
    OpRun exact(GetParam(), best, dtype, cpu());
    OpRun narrow(GetParam(), dtype, dtype, gpu());
    exact.forward();
    narrow.forward();
    expect_close(narrow, exact, gpu_tolerance(GetParam(), dtype));
    for (const std::string& name : exact.output_names())
      exact.set_values(name, narrow.values(name));
    exact.backward();
    narrow.backward();
    expect_close(narrow, exact, gpu_tolerance(GetParam(), dtype));
  });
}

TEST_P(CudaOpCases, NothingOutsideOutputsAndGradientsIsWritten) {
  for_dtypes([&](DType dtype) {
    OpRun run(GetParam(), dtype, dtype, gpu());
    run_both(run);
    EXPECT_EQ(run.damage(), "");
  });
}

TEST_P(CudaOpCases, EqualInputsGiveEqualBits) {
  for_dtypes([&](DType dtype) {
    OpRun first(GetParam(), dtype, dtype, gpu()), second(GetParam(), dtype, dtype, gpu());
    run_both(first);
    run_both(second);
    expect_equal_bits(second, first);
  });
}

std::vector<OpCase> all_cases() {
  std::vector<OpCase> cases = op_cases();
  std::ranges::copy(op_large_cases(), std::back_inserter(cases));
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Ops, CudaOpCases, ::testing::ValuesIn(all_cases()), case_name);

}  // namespace
}  // namespace ingot::test
