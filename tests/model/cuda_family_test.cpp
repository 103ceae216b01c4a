// What family_test.cpp asks, on a GPU: its losses are the CPU's, policies and poison change no bit.
#include "model/families.h"
#include "model/run_steps.h"
#include "support/on_gpu.h"

namespace ingot::test {
namespace {

using CudaFamilies = OnGpu<::testing::TestWithParam<Family>>;
INSTANTIATE_TEST_SUITE_P(Model, CudaFamilies, ::testing::ValuesIn(families()),
                         [](const auto& one) { return one.param.name; });

RigOptions options_of(const Family& family, Device device) {
  RigOptions options;
  options.device = device;
  options.model = family.model;
  options.T = 16;
  options.loss_chunk = 16;
  options.threads = 1;
  return options;
}

TEST_P(CudaFamilies, StepsAreTheCpus) {
  for (const bool documents : {false, true}) {
    const StepsOptions run{.rows = 4, .steps = 4};
    RigOptions options = options_of(GetParam(), Device::cuda(0));
    options.document_mask = documents;
    const Trace gpu = run_steps(options, run);
    options.device = Device::cpu();
    const Trace cpu = run_steps(options, run);
    for (size_t i = 0; i < cpu.losses.size(); ++i)
      EXPECT_NEAR(gpu.losses[i] / cpu.losses[i], 1.0, 1e-5) << "step " << i;
    for (size_t i = 0; i < cpu.gradients[0].size(); ++i)
      EXPECT_LE(distance(gpu.gradients[0][i], cpu.gradients[0][i]), 1e-4) << "parameter " << i;
  }
}

TEST_P(CudaFamilies, PoliciesAndPoisonChangeNoBit) {
  const auto facts = gpu_facts(Device::cuda(0));
  const bool has_fp8 = facts->major * 10 + facts->minor >= 89;
  for (const char* precision : {"fp32", "bf16", "fp8"}) {
    RigOptions options = options_of(GetParam(), Device::cuda(0));
    options.fp8 = options.fp8_head = has_fp8 && precision == std::string("fp8");
    options.compute = precision == std::string("fp32") ? DType::F32 : DType::BF16;
    // Long enough that micro-steps are issued, recorded and replayed.
    const StepsOptions run{.rows = 4, .steps = 5, .evaluates = true};
    const Trace kept = run_steps(options, run);
    options.poison = true;
    for (const ActivationPolicy policy :
         {ActivationPolicy::None, ActivationPolicy::Selective, ActivationPolicy::Full}) {
      options.policy = policy;
      EXPECT_EQ(run_steps(options, run), kept) << precision;
    }
  }
}

}  // namespace
}  // namespace ingot::test
