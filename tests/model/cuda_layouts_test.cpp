// What layouts_test.cpp and transformer_test.cpp ask of lives and layouts, on a GPU: steps are
// recorded as graphs, and ranks share the GPU.
#include "model/run_steps.h"
#include "support/on_gpu.h"

namespace ingot::test {
namespace {

using CudaModel = OnGpu<::testing::Test>;

RigOptions gpu_options() {
  RigOptions options;
  options.device = Device::cuda(0);
  options.model = model_preset("llama_tiny");
  options.model.vocab = 256;
  options.model.ffn = 352;  // multiples of 16 for fp8
  options.T = 64;
  options.loss_chunk = 64;
  options.threads = 1;
  return options;
}

TEST_F(CudaModel, NobodyReadsARowThatIsNotAlive) {
  const auto facts = gpu_facts(Device::cuda(0));
  const bool has_fp8 = facts->major * 10 + facts->minor >= 89;
  for (const char* precision : {"fp32", "bf16", "fp8"})
    for (const ActivationPolicy policy :
         {ActivationPolicy::None, ActivationPolicy::Selective, ActivationPolicy::Full})
      for (const auto& [keep, offload] : {std::pair{0, 0}, std::pair{1, 0}, std::pair{0, 4}})
        for (const bool one_micro_step : {false, true}) {
          RigOptions options = gpu_options();
          options.fp8 = options.fp8_head = has_fp8 && precision == std::string("fp8");
          options.compute = precision == std::string("fp32") ? DType::F32 : DType::BF16;
          options.policy = policy;
          options.keep_layers = keep;
          options.offload_layers = offload;
          options.one_micro_step = one_micro_step;
          // Long enough that micro-steps are issued, recorded and replayed.
          const StepsOptions run{.rows = one_micro_step ? 2 : 4, .steps = 5, .evaluates = true};
          const Trace clean = run_steps(options, run);
          options.poison = true;
          EXPECT_EQ(run_steps(options, run), clean);
        }
}

TEST_F(CudaModel, StepsOfRanksThatShareAGpuAreOneRanks) {
  for (const bool tied : {false, true}) {
    RigOptions options = gpu_options();
    options.model.tied = tied;
    options.B = 1;
    const StepsOptions run{.rows = 12, .steps = 5};
    const Trace one = run_steps(options, run);
    for (const Layout layout :
         {Layout{.dp_replicate = 2}, Layout{.dp_replicate = 3}, Layout{.dp_shard = 2},
          Layout{.dp_shard = 3}, Layout{.dp_replicate = 2, .dp_shard = 2}})
      for (const GradientSync sync : {GradientSync::MicroStep, GradientSync::Step})
        for (const UnshardedWeights whole :
             {UnshardedWeights::AroundUses, UnshardedWeights::ForwardToBackward,
              UnshardedWeights::Always}) {
          if (layout.dp_shard == 1 && whole != UnshardedWeights::Always) continue;
          options.layout = layout;
          options.gradient_sync = sync;
          options.unsharded_weights = whole;
          const Trace many = run_steps(options, run);
          for (size_t i = 0; i < one.losses.size(); ++i)
            EXPECT_NEAR(many.losses[i] / one.losses[i], 1.0, 1e-5) << "step " << i;
          for (size_t i = 0; i < one.gradients[0].size(); ++i)
            EXPECT_LE(distance(many.gradients[0][i], one.gradients[0][i]), 1e-6)
                << "parameter " << i;
          options.poison = true;
          StepsOptions delayed = run;
          delayed.delay = {.seed = 1, .most = std::chrono::microseconds(400)};
          EXPECT_EQ(run_steps(options, delayed), many);
          options.poison = false;
        }
    options.layout = {};
  }
}

}  // namespace
}  // namespace ingot::test
