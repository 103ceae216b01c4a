// An optimizer in host memory trains as one on the device, to the bit where both are the CPU.
#include <gtest/gtest.h>

#include <limits>

#include "model/run_steps.h"

namespace ingot::test {
namespace {

RigOptions options_of(const Layout& layout, DType compute) {
  RigOptions options;
  options.model = model_preset("llama_test");
  options.model.dim = 64;  // extents that 8-bit products can take
  options.model.ffn = 96;
  options.model.vocab = 128;
  options.B = 1;
  options.T = 16;
  options.loss_chunk = 16;
  options.threads = 1;
  options.layout = layout;
  options.compute = compute;
  return options;
}

const Layout kLayouts[] = {
    {}, {.dp_replicate = 2}, {.dp_shard = 2}, {.dp_shard = 3}, {.dp_replicate = 2, .dp_shard = 2}};

TEST(OffloadedOptimizer, StepsAreThoseOfOneOnTheDevice) {
  for (const Layout& layout : kLayouts)
    for (const DType compute : {DType::F32, DType::BF16, DType::F64})
      for (const bool one_micro_step : {false, true}) {
        if (one_micro_step && compute != DType::F32) continue;
        RigOptions options = options_of(layout, compute);
        options.fp8 = options.fp8_head = compute == DType::BF16;
        options.one_micro_step = one_micro_step;
        options.optim.moments = compute == DType::BF16 ? DType::BF16 : DType::F32;
        const StepsOptions run{
            .rows = one_micro_step ? layout.world() : 12, .steps = 3, .evaluates = true};
        const Trace on_device = run_steps(options, run);
        options.offload_optimizer = true;
        EXPECT_EQ(run_steps(options, run), on_device)
            << layout.dp_replicate << " · " << layout.dp_shard << " " << name_of(compute);
      }
}

TEST(OffloadedOptimizer, ServesRanksThatShardStatesAndHaveUnshardedWeights) {
  for (const GradientSync sync : {GradientSync::MicroStep, GradientSync::Step}) {
    RigOptions options = options_of({.dp_shard = 3}, DType::BF16);
    options.unsharded_weights = UnshardedWeights::Always;
    options.gradient_sync = sync;
    const StepsOptions run{.rows = 6, .steps = 3, .evaluates = true};
    const Trace on_device = run_steps(options, run);
    options.offload_optimizer = true;
    EXPECT_EQ(run_steps(options, run), on_device);
  }
}

// What leaves the device: masters and states. What comes to host memory besides: a gradient and a
// weight of each element.
TEST(OffloadedOptimizer, LeavesWeightsAndGradientsOnTheDevice) {
  for (const DType compute : {DType::F32, DType::BF16}) {
    RigOptions options = options_of({}, compute);
    const auto world = single_world();
    const Rig on_device(options, *world);
    options.offload_optimizer = true;
    const Rig offloaded(options, *world);
    int64_t moved = 0, added = 0;
    for (const TensorSpec& row : offloaded.placed().table().rows()) {
      if (row.space != MemorySpace::Pinned) continue;
      const bool is_new = row.name.starts_with("host.");
      EXPECT_EQ(on_device.placed().table().try_find(row.name).valid(), !is_new);
      (is_new ? added : moved) += align_up(row.bytes());
    }
    EXPECT_GT(moved, 0);
    EXPECT_EQ(on_device.placed().allocated_bytes() - offloaded.placed().allocated_bytes(), moved);
    EXPECT_EQ(offloaded.placed().pinned_bytes(), moved + added);
    for (const ParameterShard& shard : offloaded.store().shards())
      for (const Tensor& state : shard.states) EXPECT_EQ(state.numel(), shard.range.size());
  }
}

TEST(OffloadedOptimizer, AStepThatIsSkippedChangesNothingAndTheNextOneCounts) {
  const auto losses = [](bool offload) {
    RigOptions options = options_of({}, DType::F32);
    options.offload_optimizer = offload;
    const auto world = single_world();
    Rig rig(options, *world);
    init_weights(rig.store(), rig.parameters(), 42);
    const auto tokens = random_tokens(16, options.model.vocab, 1);
    std::vector<double> all;
    int64_t count = 0;
    for (const int64_t step : {1, 2, 3, 4}) {
      const double nan = std::numeric_limits<double>::quiet_NaN();
      rig.store().start_step();
      rig.model().train_micro_step({tokens.data(), tokens.data(), nullptr},
                                   step == 2 ? nan : 1.0 / 16, true);
      rig.store().finish_gradients();
      const bool skipped = rig.update(1e-2, count + 1).skipped;
      EXPECT_EQ(skipped, step == 2);
      if (!skipped) ++count;
      all.push_back(rig.model().take_loss());
    }
    EXPECT_EQ(all[1], all[2]);
    EXPECT_NE(all[2], all[3]);
    return all;
  };
  EXPECT_EQ(losses(true), losses(false));
}

}  // namespace
}  // namespace ingot::test
