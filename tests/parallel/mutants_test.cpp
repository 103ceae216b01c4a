// What the equivalence of layouts is judged by sees each of the mistakes that are easily made.
#include "parallel/mutants.h"

#include <gtest/gtest.h>

#include "parallel/equivalence.h"

namespace ingot::test {
namespace {

using WrapStore = decltype(RigOptions::wrap_store);
using WrapWorld = decltype(RigOptions::wrap_world);

constexpr double kTolerance = 1e-10;  // in F64, of Equivalence
constexpr double kSeen = 1e-3;        // no rounding is as large

const Form& form_of(std::string_view name) {
  return *std::find_if(kForms.begin(), kForms.end(),
                       [&](const Form& form) { return name == form.name; });
}

Way way_on(std::string_view form, int ranks = 2) {
  return {.form = form_of(form), .ranks = ranks, .accumulates = true, .tied = true};
}

Distances with_mistake(const Way& way, const WrapStore& store, const WrapWorld& world = {}) {
  const StepsOptions run{.rows = rows_of(way), .steps = 4, .lr = 3e-3};
  const Trace one = run_steps(on_one_rank(way, DType::F64), run);
  RigOptions options = options_of(way, DType::F64);
  options.wrap_store = store;
  options.wrap_world = world;
  return distances(run_steps(options, run), one);
}

template <class Mutant, class... More>
WrapStore mutant(const More&... more) {
  return [=](std::unique_ptr<ParameterStore> inner, World&) {
    return std::make_unique<Mutant>(std::move(inner), more...);
  };
}
template <class Mutant>
WrapStore mutant_of_world() {
  return [](std::unique_ptr<ParameterStore> inner, World& world) {
    return std::make_unique<Mutant>(std::move(inner), world);
  };
}

TensorTable parameters_of(const Way& way) {
  return transformer_parameters(options_of(way, DType::F64).model);
}

TEST(Mutants, AStoreThatOnlyHandsOnIsNone) {
  for (const Form& form : kForms) {
    const Distances far = with_mistake(way_on(form.name, 4), mutant<ForwardingStore>());
    EXPECT_LE(far.losses, kTolerance) << form.name;
    EXPECT_LE(far.norms, kTolerance) << form.name;
    EXPECT_LE(far.gradients, kTolerance) << form.name;
  }
}

TEST(Mutants, AWrongScaleIsSeenInGradientsAndNorms) {
  for (const char* form : {"dp", "zero1", "zero2", "fsdp", "hsdp"}) {
    const Distances far = with_mistake(way_on(form, 4), mutant<WrongScale>(4));
    EXPECT_GT(far.first_gradients, kSeen) << form;
    EXPECT_GT(far.norms, kSeen) << form;
  }
}

// Why losses do not suffice: AdamW divides by the gradient's own size.
TEST(Mutants, AWrongScaleIsNotSeenInAdamWsLosses) {
  const Way way = way_on("dp");
  const StepsOptions run{.rows = rows_of(way), .steps = 20, .lr = 2e-5};
  RigOptions one = on_one_rank(way, DType::F32), options = options_of(way, DType::F32);
  one.optim.clip = options.optim.clip = 0.0;
  options.wrap_store = mutant<WrongScale>(2);
  const Distances far = distances(run_steps(options, run), run_steps(one, run));
  EXPECT_LE(far.losses, 1e-5);
  EXPECT_GT(far.first_gradients, 0.4);
}

TEST(Mutants, ANormThatCountsReplicasIsSeen) {
  for (const auto& [form, ranks] : {std::pair{"dp", 2}, {"hsdp", 4}}) {
    const Distances far = with_mistake(way_on(form, ranks), mutant_of_world<NormOfReplicas>());
    EXPECT_GT(far.norms, kSeen) << form;
    EXPECT_LE(far.first_gradients, kTolerance) << form;
  }
}

TEST(Mutants, WeightsGatheredBeforeTheUpdateAreSeen) {
  for (const char* form : {"zero1", "zero2"})
    EXPECT_GT(with_mistake(way_on(form), mutant<StaleWeights>()).gradients, kSeen) << form;
  const auto stale = [](World& world) { return std::make_unique<StaleWorld>(world); };
  for (const char* form : {"fsdp", "fsdp_step", "fsdp_kept"})
    EXPECT_GT(with_mistake(way_on(form), {}, stale).gradients, kSeen) << form;
}

TEST(Mutants, ALostTiedGradientIsSeen) {
  for (const char* form : {"dp", "zero1", "zero2", "fsdp", "fsdp_step"}) {
    const Way way = way_on(form);
    EXPECT_GT(with_mistake(way, mutant<LostTiedGradient>(parameters_of(way))).first_gradients,
              kSeen)
        << form;
  }
}

TEST(Mutants, ADroppedMicroStepIsSeen) {
  for (const char* form : {"dp", "zero1", "zero2", "fsdp", "fsdp_step"}) {
    const Way way = way_on(form);
    EXPECT_GT(with_mistake(way, mutant<DroppedMicroStep>(parameters_of(way))).first_gradients,
              kSeen)
        << form;
  }
}

// Gradients that are kept through the step and yet summed over ranks in every micro-step.
TEST(Mutants, SumsOfSumsAreSeen) {
  EXPECT_GT(with_mistake(way_on("dp"), mutant_of_world<SumsAgain>()).first_gradients, kSeen);
}

// The store itself refuses the mistake that leads there.
TEST(Mutants, GradientsAfterTheirSumAreRefused) {
  class EveryMicroStepIsTheLast final : public ForwardingStore {
   public:
    using ForwardingStore::ForwardingStore;
    void begin(std::span<const BlockUse> order, bool) override { inner_->begin(order, true); }
  };
  for (const char* form : {"dp", "zero1", "fsdp", "fsdp_step"})
    EXPECT_THROW(with_mistake(way_on(form), mutant<EveryMicroStepIsTheLast>()), Error) << form;
}

}  // namespace
}  // namespace ingot::test
