#include "ops/adamw.h"

#include <gtest/gtest.h>

#include <cmath>

#include "forced_isa.h"
#include "rig.h"
#include "support/safetensors_file.h"

namespace ingot {
namespace {

using test::view;

constexpr int64_t n = 37;

struct State {
  test::SafetensorsFile golden{std::string(INGOT_SOURCE_DIR) +
                               "/tests/golden/ops/adamw_10_steps_n37.safetensors"};
  std::vector<float> master, grads, m = std::vector<float>(n), v = std::vector<float>(n);
  State() : master(golden.values<float>("param")), grads(golden.values<float>("grads")) {}

  // The golden's settings.
  void run(Context& ctx, int64_t step, const Tensor& weight, double grad_scale = 1.0) {
    const Tensor grad = view(grads, {10, n}).slice(0, step - 1, step).reshape({n});
    const AdamWTensors tensors{view(master, {n}), grad, view(m, {n}), view(v, {n}), weight, 0.1};
    adamw(ctx, {1e-2, 0.9, 0.95, 1e-8, step, grad_scale}, {&tensors, 1});
  }
};

TEST(AdamW, TenFloatStepsEndWithinFourUlpOfTorchs) {
  for (cpu::Isa isa : test::runnable_isas()) {
    const test::ForcedIsa forced(isa);
    test::Rig rig;
    State state;
    for (int64_t step = 1; step <= 10; ++step) state.run(rig.ctx, step, {});
    auto expect_close = [&](const std::vector<float>& got, const char* name) {
      const std::vector<float> want = state.golden.values<float>(name);
      for (size_t i = 0; i < got.size(); ++i) {
        // An ulp of the largest the element was on its way: cancellation may leave it smaller.
        const float size = std::max(std::abs(want[i]), std::string(name) == "f32.v" ? 0.0f : 0.1f);
        const float ulp = std::nextafter(size, 1e9f) - size;
        EXPECT_NEAR(got[i], want[i], 4 * ulp) << name << "[" << i << "] " << cpu::name_of(isa);
      }
    };
    expect_close(state.master, "f32.master");
    expect_close(state.m, "f32.m");
    expect_close(state.v, "f32.v");
  }
}

TEST(AdamW, ComputeCopyIsTheRoundedMaster) {
  test::Rig rig;
  State state;
  std::vector<Bf16> weight(n);
  state.run(rig.ctx, 1, view(weight, {n}));
  for (size_t i = 0; i < n; ++i) EXPECT_EQ(weight[i].bits, Bf16::from_float(state.master[i]).bits);
}

TEST(AdamW, MasterAsItsOwnWeightIsUpdatedOnce) {
  test::Rig rig;
  State alone, same;
  alone.run(rig.ctx, 1, {});
  same.run(rig.ctx, 1, view(same.master, {n}));
  EXPECT_EQ(alone.master, same.master);
}

TEST(AdamW, GradScaleActsAsScaledGradients) {
  test::Rig rig;
  State scaled, plain;
  scaled.run(rig.ctx, 1, {}, 0.25);
  for (float& g : plain.grads) g *= 0.25f;
  plain.run(rig.ctx, 1, {});
  EXPECT_EQ(scaled.master, plain.master);
  EXPECT_EQ(scaled.v, plain.v);
}

}  // namespace
}  // namespace ingot
