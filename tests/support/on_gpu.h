// Tests that need a GPU; without one they are skipped (needs-gpu in tests/expected_skips.txt).
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "core/device/compute_device.h"

namespace ingot::test {

// A fixture over ::testing::Test or ::testing::TestWithParam<…>. The first GPU's context lives as
// long as the suite: its libraries take longer to load than most tests to run.
template <class Fixture>
class OnGpu : public Fixture {
 protected:
  static void SetUpTestSuite() {
    const Device device = choose_device("auto");
    if (device.kind == DeviceKind::Cuda)
      compute_ = std::make_unique<ComputeDevice>(device, available_cores(), "");
  }
  static void TearDownTestSuite() { compute_.reset(); }
  void SetUp() override {
    if (!compute_) GTEST_SKIP() << "no GPU";
  }

  static Context& gpu() { return compute_->context(); }
  // The threads alone.
  static Context cpu() {
    Context ctx;
    ctx.pool = gpu().pool;
    return ctx;
  }

 private:
  inline static std::unique_ptr<ComputeDevice> compute_;
};

}  // namespace ingot::test
