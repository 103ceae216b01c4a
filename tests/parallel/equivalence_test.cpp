// Training steps on every layout are one rank's, whatever the lanes' timing, and read nothing that
// is not alive. A new layout is a row of kForms; what it meets follows (equivalence.h).
#include "parallel/equivalence.h"

#include <gtest/gtest.h>

#include <atomic>
#include <ostream>

#include "support/forwarding_world.h"

namespace ingot::test {

void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name();
}

namespace {

class CountingCommunicator final : public ForwardingCommunicator {
 public:
  CountingCommunicator(std::unique_ptr<Communicator> inner, std::atomic<int>& sums)
      : ForwardingCommunicator(std::move(inner)), sums_(sums) {}

 private:
  Ticket start(const CollectiveCall& call, const Ticket& after) override {
    if (call.kind == Collective::AllReduce) ++sums_;
    return ForwardingCommunicator::start(call, after);
  }
  std::atomic<int>& sums_;
};

class CountingWorld final : public ForwardingWorld {
 public:
  CountingWorld(World& inner, std::atomic<int>& sums) : ForwardingWorld(inner), sums_(sums) {}
  std::unique_ptr<Communicator> communicator(std::span<const int> ranks, Context& ctx) override {
    return std::make_unique<CountingCommunicator>(ForwardingWorld::communicator(ranks, ctx), sums_);
  }

 private:
  std::atomic<int>& sums_;
};

class Equivalence : public ::testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Ways, Equivalence, ::testing::ValuesIn(all_pairs()),
                         [](const auto& which) { return which.param.name(); });

// AdamW makes whole steps of gradients that are rounding alone, so steps are small.
StepsOptions run_of(const Way& way) {
  return {.rows = rows_of(way), .steps = 20, .lr = 2e-4};
}

// F64 tells sums in another order from a wrong one in every step.
TEST_P(Equivalence, InF64StepsAreOneRanks) {
  const Way& way = GetParam();
  const Trace one = run_steps(on_one_rank(way, DType::F64), run_of(way));
  const Distances far = distances(run_steps(options_of(way, DType::F64), run_of(way)), one);
  EXPECT_LE(far.losses, 1e-10);
  EXPECT_LE(far.first_gradients, 1e-10);
  EXPECT_LE(far.gradients, 1e-10);
  EXPECT_LE(far.norms, 1e-10);
  for (const double norm : one.norms) EXPECT_GT(norm, kClip);
}

// F32 in the losses, and in the gradients before steps have made rounding larger.
TEST_P(Equivalence, InF32GradientsAndLossesAreOneRanks) {
  const Way& way = GetParam();
  const Trace one = run_steps(on_one_rank(way, DType::F32), run_of(way));
  const Distances far = distances(run_steps(options_of(way, DType::F32), run_of(way)), one);
  EXPECT_LE(far.losses, 1e-5);
  EXPECT_LE(far.first_gradients, 1e-6);
}

TEST_P(Equivalence, NeitherDelaysNorPoisonChangeABit) {
  const Way& way = GetParam();
  RigOptions options = options_of(way, DType::BF16);
  options.narrow_reduction = way.grouped;
  StepsOptions run = run_of(way);
  run.steps = 2;
  run.evaluates = true;
  const Trace plain = run_steps(options, run);
  options.poison = true;
  run.delay = {.seed = 1, .most = std::chrono::microseconds(300)};
  EXPECT_TRUE(run_steps(options, run) == plain);
}

// Ranks are added in the same order wherever all of them share, so a step of one micro-step has the
// same bits, and so have the weights where no norm, a sum in another order, scales the gradient. A
// tied embedding is another case: its two parts are summed over ranks one by one, or as one.
TEST(EquivalentLayouts, OneMicroStepIsBitEqualOnAllThatAddInRankOrder) {
  for (const int ranks : {2, 3, 5}) {
    Way way{.ranks = ranks, .grouped = true, .qk_norm = true};
    const auto run = [&](const Form& form) {
      way.form = form;
      RigOptions options = options_of(way, DType::BF16);
      options.optim.clip = 0.0;
      Trace trace = run_steps(options, {.rows = rows_of(way), .steps = 3});
      trace.norms.clear();
      return trace;
    };
    const Trace dp = run(kForms[0]);
    for (const Form& form : kForms) {
      if (form.replicas) continue;
      EXPECT_TRUE(run(form) == dp) << form.name << " on " << ranks << " ranks";
    }
  }
}

// No shortcut: its blocks are sent like those of several ranks, over a group of one.
TEST(EquivalentLayouts, OneRankThroughACommunicatorHasTheBitsOfNone) {
  for (const bool accumulates : {false, true}) {
    const Way way{.accumulates = accumulates, .tied = true};
    RigOptions options = options_of(way, DType::BF16);
    const StepsOptions run{.rows = rows_of(way), .steps = 3};
    const Trace none = run_steps(options, run);
    options.group_of_one = true;
    std::atomic<int> sums = 0;
    options.wrap_world = [&](World& world) { return std::make_unique<CountingWorld>(world, sums); };
    EXPECT_EQ(run_steps(options, run), none);
    EXPECT_EQ(sums, run.steps * (options.model.layers + 2));  // a block, a sum
  }
}

// BF16 rounds a sum once: what a run with it loses is that, and the same on all layouts.
TEST(EquivalentLayouts, SumsSentInBf16AreRoundedOnce) {
  for (const bool accumulates : {false, true})
    for (const Form& form : kForms) {
      Way way{.form = form, .ranks = 4, .accumulates = accumulates};
      RigOptions options = options_of(way, DType::BF16);
      const StepsOptions run{.rows = rows_of(way), .steps = 5};
      const Trace wide = run_steps(options, run);
      options.narrow_reduction = true;
      const Distances far = distances(run_steps(options, run), wide);
      EXPECT_GT(far.first_gradients, 0.0) << form.name;
      EXPECT_LT(far.first_gradients, 0x1p-8) << form.name;
      EXPECT_LT(far.losses, 1e-3) << form.name;
    }
}

}  // namespace
}  // namespace ingot::test
