// Short runs on a GPU whose losses are compared, step by step, with those of other runs.
#pragma once

#include <map>
#include <string>

#include "support/on_gpu.h"
#include "support/train_fixture.h"

namespace ingot::test {

using Losses = std::map<int64_t, double>;  // by step

class CudaTrainFixture : public OnGpu<TrainFixture> {
 protected:
  void SetUp() override {
    TrainFixture::SetUp();
    OnGpu<TrainFixture>::SetUp();
  }

  Losses losses(const std::string& name, int64_t steps, const Overrides& more = {}) const {
    Recorder recorder;
    run(on_gpu(name, steps, more), recorder);
    return recorder.losses;
  }

  // Of a run that is stopped halfway and resumed.
  Losses losses_of_halves(const std::string& name, int64_t steps, const Overrides& more) const {
    const RunConfig config = on_gpu(name, steps, more);
    Recorder recorder;
    recorder.stop_after = steps / 2;
    EXPECT_TRUE(run(config, recorder).stopped);
    recorder.stop = false;
    recorder.stop_after = 0;
    run(config, recorder, /*resume=*/true);
    return recorder.losses;
  }

 private:
  RunConfig on_gpu(const std::string& name, int64_t steps, Overrides more) const {
    more.insert(more.begin(), {"system.device", "cuda"});
    return config(name, steps, more);
  }
};

inline void expect_close(const Losses& got, const Losses& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (const auto& [step, loss] : want)
    EXPECT_NEAR(got.at(step) / loss, 1.0, tolerance) << "step " << step;
}

}  // namespace ingot::test
