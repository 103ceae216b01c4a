// A training step on every layout is one rank's, whatever the lanes' timing, and reads nothing that
// is not alive. A new layout, or a new way of computing on one, is a row of cases().
#include <gtest/gtest.h>

#include <map>

#include "model/run_steps.h"

namespace ingot::test {
namespace {

constexpr int64_t kRows = 12;  // sequences of a step

struct LayoutCase {
  Layout layout = {};
  GradientSync gradient_sync = GradientSync::MicroStep;
  bool accumulates = true;  // several micro-steps a step
  bool tied = false;
  DType compute = DType::F32;

  std::string name() const {
    return fmt::format("replicated{}_sharded{}_{}{}{}_{}", layout.dp_replicate, layout.dp_shard,
                       gradient_sync == GradientSync::Step ? "step" : "micro_step",
                       accumulates ? "_accumulated" : "", tied ? "_tied" : "", name_of(compute));
  }
  friend std::ostream& operator<<(std::ostream& out, const LayoutCase& c) {
    return out << c.name();
  }
};

std::vector<LayoutCase> cases() {
  using enum GradientSync;
  std::vector<LayoutCase> all;
  for (const bool accumulates : {true, false}) {
    for (const int ranks : {2, 3, 4}) {
      const bool tied = ranks == 3;
      all.push_back({{.dp_replicate = ranks}, MicroStep, accumulates, tied});
      all.push_back({{.dp_shard = ranks}, MicroStep, accumulates, tied});
      all.push_back({{.dp_shard = ranks}, Step, accumulates, tied});
    }
    all.push_back({{.dp_replicate = 2, .dp_shard = 2}, MicroStep, accumulates, true});
    all.push_back({{.dp_replicate = 2, .dp_shard = 3}, Step, accumulates, false});
  }
  for (LayoutCase one : std::vector(all)) {
    one.compute = DType::F64;
    all.push_back(one);
  }
  return all;
}

RigOptions options_of(const LayoutCase& c) {
  RigOptions options;
  options.model = model_preset("llama_test");
  options.model.tied = c.tied;
  options.model.layers = 2;
  options.layout = c.layout;
  options.compute = c.compute;
  options.gradient_sync = c.gradient_sync;
  options.one_micro_step = !c.accumulates;
  options.B = kRows / c.layout.world() / (c.accumulates ? 2 : 1);
  options.policy = ActivationPolicy::Selective;
  options.threads = 1;
  return options;
}

class OnLayout : public ::testing::TestWithParam<LayoutCase> {};
INSTANTIATE_TEST_SUITE_P(Cases, OnLayout, ::testing::ValuesIn(cases()),
                         [](const auto& which) { return which.param.name(); });

// AdamW makes whole steps of gradients that are rounding alone, so steps are small.
constexpr StepsOptions kRun{.rows = kRows, .steps = 20, .lr = 2e-4};

const Trace& on_one_rank(bool tied, DType compute) {
  static std::map<std::pair<bool, DType>, Trace> traces;
  const auto [trace, is_new] = traces.try_emplace({tied, compute});
  if (is_new) trace->second = run_steps(options_of({.tied = tied, .compute = compute}), kRun);
  return trace->second;
}

// F64 tells sums in another order from a wrong one in every step; F32 in the losses, and in the
// gradients before steps have made rounding larger.
TEST_P(OnLayout, StepsAreOneRanks) {
  const bool wide = GetParam().compute == DType::F64;
  const Trace& one = on_one_rank(GetParam().tied, GetParam().compute);
  const Trace many = run_steps(options_of(GetParam()), kRun);
  ASSERT_EQ(many.losses.size(), one.losses.size());
  for (size_t step = 0; step < one.losses.size(); ++step) {
    EXPECT_NEAR(many.losses[step] / one.losses[step], 1.0, wide ? 1e-10 : 1e-5) << "step " << step;
    if (step > 0 && !wide) continue;
    const Gradients &got = many.gradients[step], &expected = one.gradients[step];
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_LE(distance(got[i], expected[i]), wide ? 1e-10 : 1e-6)
          << "step " << step << ", parameter " << i;
  }
}

TEST_P(OnLayout, NeitherDelaysNorPoisonChangeABit) {
  RigOptions options = options_of(GetParam());
  const Trace plain = run_steps(options, {.rows = kRows, .steps = 2, .evaluates = true});
  options.poison = true;
  const LaneDelay delay{.seed = 1, .most = std::chrono::microseconds(300)};
  EXPECT_EQ(run_steps(options, {.rows = kRows, .steps = 2, .evaluates = true, .delay = delay}),
            plain);
}

}  // namespace
}  // namespace ingot::test
