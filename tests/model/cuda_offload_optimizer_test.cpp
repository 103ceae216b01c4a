// What offload_optimizer_test.cpp asks, on a GPU: copies go both ways beside the CPU's update.
#include "model/run_steps.h"
#include "support/on_gpu.h"

namespace ingot::test {
namespace {

using CudaModel = OnGpu<::testing::Test>;

// The CPU rounds an update otherwise than the GPU in its last bits, which BF16 weights and AdamW's
// whole steps make larger: within 2e-3. The first step's gradients are equal to the bit.
TEST_F(CudaModel, AnOptimizerInHostMemoryTrainsAsOneOnTheDevice) {
  for (const Layout layout : {Layout{}, Layout{.dp_replicate = 2}, Layout{.dp_shard = 2}})
    for (const DType compute : {DType::F32, DType::BF16}) {
      RigOptions options;
      options.device = Device::cuda(0);
      options.model = model_preset("llama_tiny");
      options.B = 1;
      options.T = 64;
      options.loss_chunk = 64;
      options.threads = 1;
      options.layout = layout;
      options.compute = compute;
      const StepsOptions run{.rows = 4, .steps = 10, .evaluates = true, .lr = 1e-3};
      const Trace on_device = run_steps(options, run);
      options.offload_optimizer = true;
      const Trace offloaded = run_steps(options, run);
      EXPECT_EQ(offloaded.gradients[0], on_device.gradients[0]);
      for (size_t step = 0; step < on_device.losses.size(); ++step)
        EXPECT_NEAR(offloaded.losses[step] / on_device.losses[step], 1.0, 2e-3) << "step " << step;
      EXPECT_EQ(run_steps(options, run), offloaded);
    }
}

}  // namespace
}  // namespace ingot::test
