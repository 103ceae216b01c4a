// Whole runs on a GPU: equal to the CPU's, to themselves, and through a stop and resume.
#include <cmath>

#include "support/on_gpu.h"
#include "support/train_fixture.h"

namespace ingot {
namespace {

using test::Recorder;
using test::run;

class CudaTrain : public test::OnGpu<test::TrainFixture> {
 protected:
  void SetUp() override {
    test::TrainFixture::SetUp();
    test::OnGpu<test::TrainFixture>::SetUp();
  }

  std::map<int64_t, double> losses(const std::string& name, int64_t steps, Overrides more = {}) {
    more.insert(more.begin(), {"system.device", "cuda"});
    Recorder recorder;
    run(config(name, steps, more), recorder);
    return recorder.losses;
  }
};

void expect_close(const std::map<int64_t, double>& got, const std::map<int64_t, double>& want,
                  double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (const auto& [step, loss] : want)
    EXPECT_NEAR(got.at(step) / loss, 1.0, tolerance) << "step " << step;
}

TEST_F(CudaTrain, Fp32LossesEqualTheCpus) {
  Recorder cpu;
  run(config("cpu", 20), cpu);
  expect_close(losses("gpu", 20, {{"train.precision", "fp32"}}), cpu.losses, 2e-5);
}

TEST_F(CudaTrain, Bf16LossesTrackFp32) {
  Recorder cpu;
  run(config("cpu", 20), cpu);
  expect_close(losses("gpu", 20, {{"train.precision", "bf16"}}), cpu.losses, 1e-2);
}

TEST_F(CudaTrain, TwoRunsAndAllPoliciesAreBitEqual) {
  const auto one = losses("one", 12);
  EXPECT_EQ(losses("two", 12), one);
  for (const char* policy : {"none", "full"})
    EXPECT_EQ(losses(policy, 12, {{"train.recompute", policy}}), one) << policy;
}

TEST_F(CudaTrain, StoppedAndResumedEqualsUndisturbedBitForBit) {
  const auto undisturbed = losses("whole", 12);
  Recorder recorder;
  recorder.stop_after = 5;
  const RunConfig halves = config("halves", 12, {{"system.device", "cuda"}});
  run(halves, recorder);
  recorder.stop = false;
  recorder.stop_after = 0;
  run(halves, recorder, /*resume=*/true);
  EXPECT_EQ(recorder.losses, undisturbed);
}

TEST_F(CudaTrain, MuonTracksTheCpuAndRepeatsBitForBit) {
  const Overrides muon = {{"optim.kind", "muon"}};
  Recorder cpu;
  run(config("cpu", 20, muon), cpu);
  const auto gpu = losses("gpu", 20, muon);
  expect_close(gpu, cpu.losses, 2e-2);
  EXPECT_EQ(losses("again", 20, muon), gpu);
}

TEST_F(CudaTrain, DocumentMaskAndQkNormRunAsOnTheCpu) {
  const Overrides all = {{"train.document_mask", "true"},
                         {"model.qk_norm", "true"},
                         {"model.softcap", "15"},
                         {"train.z_loss", "1e-4"}};
  Recorder cpu;
  run(config("cpu", 8, all), cpu);
  Overrides on_gpu = all;
  on_gpu.push_back({"train.precision", "fp32"});
  expect_close(losses("gpu", 8, on_gpu), cpu.losses, 2e-5);
}

}  // namespace
}  // namespace ingot
