// A model under Muon trains on every layout as on one rank.
#include <gtest/gtest.h>

#include "model/run_steps.h"

namespace ingot::test {
namespace {

constexpr int64_t kRows = 12;

RigOptions muon_options(const Layout& layout, DType compute) {
  RigOptions options;
  options.model = model_preset("llama_test");  // half as many heads of keys as of queries
  options.model.layers = 2;
  options.layout = layout;
  options.compute = compute;
  options.B = 1;
  options.threads = 1;
  options.optim.kind = OptimKind::Muon;
  options.optim.lr = 2e-4;
  options.optim.muon_lr = 5e-3;
  return options;
}

const Layout kLayouts[] = {
    {.dp_replicate = 2}, {.dp_shard = 2},
    {.dp_shard = 3},     {.dp_replicate = 2, .dp_shard = 2},
    {.dp_shard = 4},     {.dp_replicate = 2, .dp_shard = 3},
};

// In F64 the order of sums is the only difference; in F32 Muon gives rounding of a direction that
// is nearly singular the weight of its other parts, so losses are held to 2e-4 there.
TEST(MuonRanks, StepsAreOneRanks) {
  for (const DType compute : {DType::F32, DType::F64}) {
    const bool wide = compute == DType::F64;
    const StepsOptions run{.rows = kRows, .steps = 8, .lr = 2e-4};
    const Trace one = run_steps(muon_options({}, compute), run);
    for (const Layout& layout : kLayouts) {
      const Trace many = run_steps(muon_options(layout, compute), run);
      for (size_t step = 0; step < one.losses.size(); ++step) {
        EXPECT_NEAR(many.losses[step] / one.losses[step], 1.0, wide ? 1e-10 : 2e-4)
            << "step " << step;
        for (size_t i = 0; wide && i < one.gradients[step].size(); ++i)
          EXPECT_LE(distance(many.gradients[step][i], one.gradients[step][i]), 1e-8)
              << "step " << step << ", parameter " << i;
      }
    }
  }
}

// Only who holds the states matters, not when weights are whole or gradients are reduced.
TEST(MuonRanks, StepsOfRanksWithUnshardedWeightsAreOneRanks) {
  const StepsOptions run{.rows = kRows, .steps = 4, .lr = 2e-4};
  const Trace one = run_steps(muon_options({}, DType::F64), run);
  for (const Layout& layout : {Layout{.dp_shard = 3}, Layout{.dp_replicate = 2, .dp_shard = 2}})
    for (const GradientSync sync : {GradientSync::MicroStep, GradientSync::Step}) {
      RigOptions options = muon_options(layout, DType::F64);
      options.unsharded_weights = UnshardedWeights::Always;
      options.gradient_sync = sync;
      const Trace many = run_steps(options, run);
      for (size_t step = 0; step < one.losses.size(); ++step)
        EXPECT_NEAR(many.losses[step] / one.losses[step], 1.0, 1e-10) << "step " << step;
    }
}

TEST(MuonRanks, NeitherDelaysNorPoisonChangeABit) {
  for (const Layout& layout : kLayouts) {
    RigOptions options = muon_options(layout, DType::BF16);
    StepsOptions run{.rows = kRows, .steps = 2, .evaluates = true};
    const Trace plain = run_steps(options, run);
    options.poison = true;
    run.delay = {.seed = 1, .most = std::chrono::microseconds(300)};
    EXPECT_EQ(run_steps(options, run), plain);
  }
}

}  // namespace
}  // namespace ingot::test
