// A model cut into stages computes what the whole one does, bit for bit.
#include "model/stage.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "core/error/error.h"
#include "core/random/random.h"
#include "model/rig.h"
#include "model/run_actions.h"
#include "ops/memory.h"

namespace ingot::test {
namespace {

constexpr int kSlots = 2;  // and as many micro-batches

ModelConfig three_layers() {
  ModelConfig c = model_preset("llama_test");  // grouped queries
  c.layers = 3;
  c.tied = false;
  return c;
}

struct Batch {
  std::vector<int32_t> tokens, targets, document_start;  // (B, T)
  MicroBatch view() const { return {tokens.data(), targets.data(), document_start.data()}; }
};

Batch random_batch(const RigOptions& options, uint64_t number) {
  const RandomStream stream(5, Purpose::Test, 0, number);
  const auto N = static_cast<size_t>(options.B * options.T);
  const auto vocab = static_cast<uint32_t>(options.model.vocab);
  Batch batch;
  for (size_t i = 0; i < N; ++i) {
    batch.tokens.push_back(static_cast<int32_t>(stream.bits(2 * i) % vocab));
    batch.targets.push_back(i % 5 == 3 ? kNoTarget
                                       : static_cast<int32_t>(stream.bits(2 * i + 1) % vocab));
    const auto t = static_cast<int32_t>(static_cast<int64_t>(i) % options.T);
    batch.document_start.push_back(t < 4 + static_cast<int32_t>(number) ? 0 : t / 3 * 3);
  }
  return batch;
}

double scale_of(const RigOptions& options) {
  return 1.0 / static_cast<double>(kSlots * options.B * options.T);
}

struct Outcome {
  std::vector<std::vector<float>> losses;      // of each micro-batch
  std::vector<std::vector<double>> gradients;  // by parameter
};

std::vector<float> values(const Tensor& tensor) {
  const auto* data = tensor.as<float>();
  return {data, data + tensor.numel()};
}

// The model as it trains: one micro-step after the other.
Outcome run_whole(RigOptions options) {
  const auto world = single_world();
  Rig rig(options, *world);
  init_weights(rig.store(), rig.parameters(), 42);
  Outcome outcome;
  rig.store().start_step();
  for (int i = 0; i < kSlots; ++i) {
    rig.model().train_micro_step(random_batch(options, static_cast<uint64_t>(i)).view(),
                                 scale_of(options), /*last=*/i + 1 == kSlots);
    outcome.losses.push_back(values(rig.placed().find("losses")));
  }
  rig.store().finish_gradients();
  for (const TensorSpec& row : rig.parameters().rows())
    outcome.gradients.push_back(rig.gradient(row.name));
  return outcome;
}

// The model as stages with layers [borders[i], borders[i + 1]), each with memory and a store of its
// own, so that nothing but the boundary tensors joins them. `passes`: of a micro-batch through all
// of them.
Outcome run_stages(RigOptions options, const std::vector<int64_t>& borders,
                   const std::vector<Action>& passes) {
  options.slots = kSlots;
  const auto world = single_world();
  std::vector<std::unique_ptr<Rig>> rigs;
  std::vector<std::unique_ptr<Stage>> owned;
  std::vector<Stage*> stages;
  for (size_t i = 0; i + 1 < borders.size(); ++i) {
    Rig& rig = *rigs.emplace_back(std::make_unique<Rig>(options, *world));
    init_weights(rig.store(), rig.parameters(), 42);
    rig.store().start_step();
    owned.push_back(std::make_unique<Stage>(rig.ctx(), StageSetup{.config = options.model,
                                                                  .shape = rig.shape(),
                                                                  .z_loss = options.z_loss,
                                                                  .placed = rig.placed(),
                                                                  .store = rig.store(),
                                                                  .first_layer = borders[i],
                                                                  .end_layer = borders[i + 1]}));
    stages.push_back(owned.back().get());
    stages.back()->set_loss_scale(scale_of(options));
    for (int slot = 0; slot < kSlots; ++slot)
      stages.back()->input(slot).load(random_batch(options, static_cast<uint64_t>(slot)).view());
  }
  const int num_stages = static_cast<int>(stages.size());
  std::vector<Action> actions;
  for (const Action& pass : passes)
    for (int i = 0; i < num_stages; ++i)
      actions.push_back(
          {pass.kind, pass.kind == Action::Forward ? i : num_stages - 1 - i, pass.slot});

  Borders hands;
  hands.before = [&](const Action& action) {
    const auto i = static_cast<size_t>(action.stage);
    Context& ctx = rigs[i]->ctx();
    if (action.kind == Action::Forward && i > 0)
      copy(ctx, stages[i - 1]->out(action.slot), stages[i]->in(action.slot));
    if (action.kind == Action::Backward && i + 1 < stages.size())
      copy(ctx, stages[i + 1]->d_in(action.slot), stages[i]->d_out(action.slot));
  };
  const std::vector<BlockUse> uses = block_uses(options.model);
  for (const std::unique_ptr<Rig>& rig : rigs) rig->store().begin(uses, /*last=*/true);
  run_actions(actions, stages, hands);
  for (const std::unique_ptr<Rig>& rig : rigs) rig->store().end();

  Outcome outcome;
  for (int slot = 0; slot < kSlots; ++slot)
    outcome.losses.push_back(values(stages.back()->losses(slot)));
  for (const std::unique_ptr<Rig>& rig : rigs) rig->store().finish_gradients();
  for (const TensorSpec& row : rigs[0]->parameters().rows()) {
    size_t i = 0;  // the stage that has the parameter's block
    while (i + 1 < stages.size() && row.block > borders[i + 1]) ++i;
    outcome.gradients.push_back(rigs[i]->gradient(row.name));
  }
  return outcome;
}

constexpr auto F = Action::Forward, B = Action::Backward;
const std::vector<Action> kOneAfterTheOther = {{F, 0, 0}, {B, 0, 0}, {F, 0, 1}, {B, 0, 1}};
const std::vector<Action> kForwardFirst = {{F, 0, 0}, {F, 0, 1}, {B, 0, 0}, {B, 0, 1}};

void expect_equal(const Outcome& got, const Outcome& want) {
  EXPECT_EQ(got.losses, want.losses);
  EXPECT_EQ(got.gradients, want.gradients);
}

TEST(Stage, TwoStagesAndTwoSlotsEqualTheWholeModelBitForBit) {
  for (const ActivationPolicy policy :
       {ActivationPolicy::None, ActivationPolicy::Selective, ActivationPolicy::Full})
    for (const bool everything : {false, true}) {
      RigOptions options;
      options.model = three_layers();
      options.model.qk_norm = everything;
      options.document_mask = everything;
      options.z_loss = everything ? 1e-2 : 0.0;
      options.policy = policy;
      options.keep_layers = everything ? 1 : 0;
      const Outcome whole = run_whole(options);
      for (const std::vector<Action>& passes : {kOneAfterTheOther, kForwardFirst}) {
        expect_equal(run_stages(options, {0, 3}, passes), whole);
        expect_equal(run_stages(options, {0, 1, 3}, passes), whole);
        expect_equal(run_stages(options, {0, 2, 3}, passes), whole);
      }
    }
}

// In each order the other's activations would be found if slots shared rows.
TEST(Stage, MicroBatchesInDifferentSlotsDiffer) {
  RigOptions options;
  options.model = three_layers();
  const Outcome outcome = run_stages(options, {0, 3}, kForwardFirst);
  EXPECT_NE(outcome.losses[0], outcome.losses[1]);
}

TEST(Stage, RefusesLayersAndSlotsThatAreNotThere) {
  RigOptions options;
  options.model = three_layers();
  const auto world = single_world();
  Rig rig(options, *world);
  StageSetup setup{.config = options.model,
                   .shape = rig.shape(),
                   .z_loss = 0.0,
                   .placed = rig.placed(),
                   .store = rig.store(),
                   .first_layer = 1,
                   .end_layer = 4};
  EXPECT_THROW(Stage(rig.ctx(), setup), Error);
  setup.end_layer = 3;
  Stage stage(rig.ctx(), setup);
  std::array<Stage*, 1> stages = {&stage};
  for (const Action& action : {Action{F, 1, 0}, Action{F, 0, 1}})
    EXPECT_THROW(run_actions({&action, 1}, stages), Error);
}

}  // namespace
}  // namespace ingot::test
