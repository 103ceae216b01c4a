// The measurements on a GPU run; what they say is the machine's affair.
#include "probe/device_rates.h"
#include "probe/measure.h"
#include "probe/step_limit.h"
#include "support/on_gpu.h"

namespace ingot {
namespace {

class CudaProbe : public test::OnGpu<::testing::Test> {};

TEST_F(CudaProbe, LimitsArePositive) {
  const MachineLimits limits = measure_limits(gpu());
  EXPECT_GT(limits.peak_flops, 1e12);
  EXPECT_GT(limits.copy_bytes_per_second, 1e11);
}

TEST_F(CudaProbe, RatesOfADeviceAreOfEveryTypeAndBothWaysToTheHost) {
  const DeviceRates rates = measure_device(gpu());
  EXPECT_GT(rates.gemm_f32, 1e12);
  EXPECT_GT(rates.gemm_tf32, rates.gemm_f32);
  EXPECT_GT(rates.gemm_bf16, rates.gemm_tf32);
  for (const double rate : {rates.memory_copy, rates.to_device, rates.from_device})
    EXPECT_GT(rate, 1e9);
}

TEST_F(CudaProbe, AStepsLimitIsMeasuredInBothTypes) {
  for (DType compute : {DType::F32, DType::BF16}) {
    const StepLimit limit =
        measure_step_limit(gpu(), model_preset("llama_10m"), {2, 128, 64, compute});
    EXPECT_GT(limit.tokens_per_second, 0.0);
    for (const LimitPart& part : limit.parts) EXPECT_GT(part.seconds, 0.0) << part.name;
  }
}

}  // namespace
}  // namespace ingot
