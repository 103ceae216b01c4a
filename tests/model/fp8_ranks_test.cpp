// Under fp8 the scales of several ranks are one rank's: of what all of them meet. run_steps()
// compares every rank's scales with the others' after every step.
#include <gtest/gtest.h>

#include <limits>

#include "model/run_steps.h"

namespace ingot::test {
namespace {

RigOptions fp8_options(const Layout& layout) {
  RigOptions options;
  options.model = model_preset("llama_test");
  options.model.dim = 64;
  options.model.ffn = 96;
  options.model.vocab = 128;
  options.B = 1;
  options.T = 16;
  options.loss_chunk = 16;
  options.threads = 1;
  options.compute = DType::BF16;
  options.fp8 = options.fp8_head = true;
  options.layout = layout;
  return options;
}

constexpr StepsOptions kRun{.rows = 12, .steps = 10, .lr = 1e-3};

const Layout kLayouts[] = {{.dp_replicate = 2},
                           {.dp_replicate = 3},
                           {.dp_shard = 2},
                           {.dp_shard = 3},
                           {.dp_replicate = 2, .dp_shard = 2}};

// A sequence's values do not depend on which others are computed beside it, so before the first
// update maxima are equal to the bit; gradients are then added in another order, and AdamW makes
// whole steps of those that are rounding alone.
TEST(Fp8Ranks, ScalesAndLossesAreOneRanks) {
  const Trace one = run_steps(fp8_options({}), kRun);
  for (const Layout& layout : kLayouts) {
    const Trace many = run_steps(fp8_options(layout), kRun);
    ASSERT_EQ(many.fp8_scales.size(), one.fp8_scales.size());
    EXPECT_EQ(many.fp8_scales[0], one.fp8_scales[0]);
    EXPECT_NE(many.fp8_scales[0], many.fp8_scales[1]);
    EXPECT_NEAR(many.losses[0] / one.losses[0], 1.0, 1e-7);
    for (size_t step = 1; step < one.losses.size(); ++step)
      EXPECT_NEAR(many.losses[step] / one.losses[step], 1.0, 2e-3) << "step " << step;
  }
}

TEST(Fp8Ranks, NeitherDelaysNorPoisonChangeABit) {
  for (const Layout& layout : kLayouts) {
    RigOptions options = fp8_options(layout);
    StepsOptions run{.rows = 12, .steps = 2, .evaluates = true};
    const Trace plain = run_steps(options, run);
    options.poison = true;
    run.delay = {.seed = 1, .most = std::chrono::microseconds(300)};
    EXPECT_EQ(run_steps(options, run), plain);
  }
}

// One rank meets a gradient that is not finite; no rank's scales follow that step.
TEST(Fp8Ranks, AStepThatIsSkippedLeavesTheScales) {
  const Layout layout{.dp_shard = 2};
  run_local_ranks(2, Device::cpu(), [&](World& world) {
    const RigOptions options = fp8_options(layout);
    Rig rig(options, world);
    init_weights(rig.store(), rig.parameters(), 42);
    rig.fp8_scales().init(1.0 / 16);
    const auto tokens = random_tokens(16, options.model.vocab, 1);
    const auto step = [&](double scale) {
      rig.store().start_step();
      rig.model().train_micro_step({tokens.data(), tokens.data(), nullptr}, scale, true);
      rig.store().finish_gradients();
      return rig.update(1e-3, 1).skipped;
    };
    EXPECT_FALSE(step(1.0 / 16));
    const std::string before = rig.fp8_scales().save();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(step(world.rank() == 1 ? nan : 1.0 / 16));
    EXPECT_EQ(rig.fp8_scales().save(), before);
    EXPECT_FALSE(step(1.0 / 16));
    EXPECT_NE(rig.fp8_scales().save(), before);
  });
}

}  // namespace
}  // namespace ingot::test
