// What is laid out for a GPU without one is what the engine takes on it.
#include <gtest/gtest.h>

#include "core/device/compute_device.h"
#include "plan/fit.h"
#include "plan/resolve.h"
#include "plan/train_table.h"
#include "support/on_gpu.h"
#include "train/step/engine.h"

namespace ingot {
namespace {

class CudaPlan : public test::OnGpu<::testing::Test> {
 protected:
  void SetUp() override {
    OnGpu::SetUp();
    if (!IsSkipped() && device_facts(gpu().device).name != "NVIDIA H200")
      GTEST_SKIP() << "not an H200";
  }
};

TEST_F(CudaPlan, EveryPresetTakesWhatIsPlannedForAnH200) {
  int compared = 0;
  for (const std::string& preset : model_preset_names())
    for (const char* policy : {"none", "selective", "full"})
      for (const char* precision : {"bf16", "fp8"}) {
        const ModelConfig model = model_preset(preset);
        if (precision == std::string("fp8") && (model.ffn % 16 != 0 || model.dim % 16 != 0))
          continue;  // refused
        const int64_t context = model.context;
        const RunConfig config =
            parse_run_config("", "test",
                             {{"preset", preset},
                              {"data.train", "text.txt"},
                              {"batch.micro_batch", "2"},
                              {"batch.seq", std::to_string(std::min<int64_t>(context, 2048))},
                              {"train.steps", "100"},
                              {"train.recompute", policy},
                              {"train.precision", precision},
                              {"system.device", "cuda"}});
        const ResolvedRun elsewhere = resolve_elsewhere(config, *known_gpu("h200"), 1);
        const int64_t planned = plan_memory(train_table(elsewhere)).total_bytes;
        const int64_t before = available_memory(gpu().device);
        if (planned + kCudaReserveBytes > before) continue;
        const auto world = single_world(gpu().device);
        const Engine engine(resolve_here(config), *world);
        const int64_t taken = before - available_memory(gpu().device);
        const std::string name = preset + " " + policy + " " + precision;
        EXPECT_EQ(engine.placed().allocated_bytes(), planned) << name;
        EXPECT_GE(taken, planned) << name;
        EXPECT_LE(taken, planned + kCudaReserveBytes) << name;
        ++compared;
      }
  RecordProperty("compared", compared);
  EXPECT_GE(compared, 57);
}

}  // namespace
}  // namespace ingot
