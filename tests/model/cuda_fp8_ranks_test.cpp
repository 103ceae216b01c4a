// What fp8_ranks_test.cpp and muon_ranks_test.cpp ask, on a GPU that the ranks share.
#include "model/run_steps.h"
#include "support/on_gpu.h"

namespace ingot::test {
namespace {

using CudaModel = OnGpu<::testing::Test>;

RigOptions gpu_options(bool fp8) {
  RigOptions options;
  options.device = Device::cuda(0);
  options.model = model_preset("llama_tiny");
  options.model.vocab = 256;
  options.model.ffn = 352;  // multiples of 16 for fp8
  options.B = 1;
  options.T = 64;
  options.loss_chunk = 64;
  options.threads = 1;
  options.compute = DType::BF16;
  options.fp8 = options.fp8_head = fp8;
  return options;
}

// Sums in another order round BF16 weights otherwise, from the first update on: losses are within
// 2e-3 of one rank's. Before it they differ by the order in which F32 losses are added.
TEST_F(CudaModel, StepsInFewBitsOfRanksThatShareAGpuAreOneRanks) {
  const auto facts = gpu_facts(Device::cuda(0));
  const bool has_fp8 = facts->major * 10 + facts->minor >= 89;
  const StepsOptions run{.rows = 12, .steps = 10, .lr = 1e-3};
  for (const bool fp8 : {false, true}) {
    if (fp8 && !has_fp8) continue;
    RigOptions options = gpu_options(fp8);
    const Trace one = run_steps(options, run);
    for (const Layout layout :
         {Layout{.dp_replicate = 2}, Layout{.dp_replicate = 4}, Layout{.dp_shard = 2},
          Layout{.dp_shard = 4}, Layout{.dp_replicate = 2, .dp_shard = 2}}) {
      options.layout = layout;
      const Trace many = run_steps(options, run);
      EXPECT_NEAR(many.losses[0] / one.losses[0], 1.0, 1e-6);
      for (size_t step = 1; step < one.losses.size(); ++step)
        EXPECT_NEAR(many.losses[step] / one.losses[step], 1.0, 2e-3)
            << "fp8 " << fp8 << ", step " << step;
      if (!fp8) continue;
      EXPECT_EQ(many.fp8_scales[0], one.fp8_scales[0]);
    }
  }
}

// Directions travel in BF16, and their norm is that of rounded ones: within 5e-3.
TEST_F(CudaModel, StepsUnderMuonOfRanksThatShareAGpuAreOneRanks) {
  const StepsOptions run{.rows = 12, .steps = 10, .lr = 1e-3};
  RigOptions options = gpu_options(/*fp8=*/false);
  options.optim.kind = OptimKind::Muon;
  const Trace one = run_steps(options, run);
  for (const Layout layout : {Layout{.dp_shard = 2}, Layout{.dp_shard = 3}, Layout{.dp_shard = 4},
                              Layout{.dp_replicate = 2, .dp_shard = 2}}) {
    options.layout = layout;
    const Trace many = run_steps(options, run);
    for (size_t step = 0; step < one.losses.size(); ++step)
      EXPECT_NEAR(many.losses[step] / one.losses[step], 1.0, 5e-3) << "step " << step;
    StepsOptions delayed = run;
    delayed.delay = {.seed = 1, .most = std::chrono::microseconds(400)};
    EXPECT_EQ(run_steps(options, delayed), many);
  }
}

}  // namespace
}  // namespace ingot::test
