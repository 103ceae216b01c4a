#include "parallel/shard/parameter_store.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <vector>

#include "core/error/error.h"
#include "spec/rows/store_rows.h"
#include "support/forwarding_world.h"
#include "support/halves.h"
#include "support/poison.h"
#include "support/toy_store.h"

namespace ingot {
namespace {

using test::poison_dead_rows;
using testing::layout_name;
using testing::store_table;
using testing::toy_parameters;
using testing::ToyOptions;
using testing::ToyRank;
using testing::visit_weights;
using testing::write_gradient;

constexpr int kMicroBatches = 12;  // a global step; 1, 2, 3 and 4 ranks divide it

using Values = std::vector<std::vector<float>>;  // by parameter

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> layouts = {{},
                                              {.dp_replicate = 2},
                                              {.dp_replicate = 3},
                                              {.dp_replicate = 4},
                                              {.dp_shard = 2},
                                              {.dp_shard = 3},
                                              {.dp_shard = 4},
                                              {.dp_replicate = 2, .dp_shard = 2},
                                              {.dp_replicate = 2, .dp_shard = 3}};
  return layouts;
}

std::string param_name(const ::testing::TestParamInfo<Layout>& info) {
  return layout_name(info.param);
}

Values empty_values(const TensorTable& parameters) {
  Values values;
  for (const TensorSpec& row : parameters.rows())
    values.emplace_back(static_cast<size_t>(row.shape.numel()),
                        std::numeric_limits<float>::quiet_NaN());
  return values;
}

// All weights as the model sees them.
Values read_weights(ToyRank& rank) {
  Values values(rank.parameters.rows().size());
  visit_weights(rank, [&](TensorId id, const Tensor& weight) {
    EXPECT_EQ(weight.shape, rank.parameters[id].shape);
    std::vector<float>& own = values[static_cast<size_t>(id.row)];
    own.clear();
    for (int64_t i = 0; i < weight.numel(); ++i)
      own.push_back(weight.dtype == DType::F32 ? weight.as<float>()[i]
                                               : weight.as<Bf16>()[i].to_float());
  });
  return values;
}

// An integer, so that sums are exact and every layout must give the same bits; it depends on the
// weight, so that a wrong gather shows.
float toy_gradient(float weight, int64_t i, int step, int micro) {
  const auto seen = static_cast<int64_t>(std::nearbyint(weight * 64.0f));
  return static_cast<float>((seen * 5 + i * 7 + micro * 3 + step) % 13);
}

// The head writes the embedding's gradient, and the embedding writes it again. The first layer's
// norm is written only in even steps, by nobody in odd ones.
void toy_micro_step(ToyRank& rank, int step, int micro, bool last) {
  ParameterStore& store = *rank.store;
  const TensorId rarely = rank.parameters.find("layers.0.norm.weight");
  store.begin(rank.order, last);
  for (const BlockUse& use : rank.order) {
    store.acquire(use);
    poison_dead_rows(rank.ctx, rank.placed, use.tick);
    if (use.writes_gradients()) {
      for (const TensorId id : rank.parameters_of(use.block)) {
        if (id == rarely && step % 2 == 1) continue;
        const float* weight = use.reads_weights ? store.weight(id).as<float>() : nullptr;
        write_gradient(store.gradient(id), [&](int64_t i) {
          return toy_gradient(weight == nullptr ? 1.0f : weight[i], i, step, micro);
        });
      }
      store.release_gradients(use.block);
    }
    store.release(use);
  }
  store.end();
}

struct Trained {
  Values weights;
  Values gradients;  // of the last step
};

constexpr LaneDelay kDelay{.seed = 3, .most = std::chrono::microseconds(100)};

// The same global steps on any layout, with plain descent as the optimizer. Lanes are delayed at
// random and what holds nothing at a tick is overwritten before it.
Trained toy_run(const Layout& layout, int steps, const ToyOptions& options = {}) {
  Trained run;
  std::mutex mutex;
  const LocalOptions delayed{.delay = kDelay};
  run_local_ranks(
      layout.world(), Device::cpu(),
      [&](World& world) {
        ToyRank rank(world, layout, options);
        init_weights(*rank.store, rank.parameters, 42);
        for (int step = 0; step < steps; ++step) {
          rank.store->start_step();
          for (int micro = world.rank(); micro < kMicroBatches; micro += world.size())
            toy_micro_step(rank, step, micro, micro + world.size() >= kMicroBatches);
          rank.store->finish_gradients();
          for (const ParameterShard& shard : rank.store->shards())
            for (int64_t i = 0; i < shard.range.size(); ++i)
              shard.master.as<float>()[i] -= 0x1p-10f * shard.gradient.as<float>()[i];
          rank.store->publish_weights();
        }
        const Values weights = read_weights(rank);
        const std::scoped_lock lock(mutex);
        if (run.weights.empty()) {
          run.weights = weights;
          run.gradients = empty_values(rank.parameters);
        }
        EXPECT_EQ(weights, run.weights) << "rank " << world.rank();
        for (const ParameterShard& shard : rank.store->shards())
          for (int64_t i = 0; i < shard.range.size(); ++i) {
            float& whole = run.gradients[static_cast<size_t>(shard.parameter.row)]
                                        [static_cast<size_t>(shard.range.begin + i)];
            const float mine = shard.gradient.as<float>()[i];
            EXPECT_TRUE(std::isnan(whole) || whole == mine) << "rank " << world.rank();
            whole = mine;
          }
      },
      delayed);
  return run;
}

class StoreOnLayout : public ::testing::TestWithParam<Layout> {};
INSTANTIATE_TEST_SUITE_P(Layouts, StoreOnLayout, ::testing::ValuesIn(layouts()), param_name);

// When weights are whole and gradients reduced; where nobody shares, there is one form.
std::vector<ToyOptions> forms(const Layout& layout, DType compute = DType::F32) {
  using enum UnshardedWeights;
  if (layout.dp_shard == 1) return {{.compute = compute}};
  std::vector<ToyOptions> all;
  for (const UnshardedWeights whole : {AroundUses, ForwardToBackward, Always})
    for (const GradientSync sync : {GradientSync::MicroStep, GradientSync::Step})
      all.push_back({.compute = compute, .gradient_sync = sync, .unsharded_weights = whole});
  return all;
}

TEST_P(StoreOnLayout, StepsGiveOneRanksWeightsAndGradients) {
  const Trained one = toy_run({}, 3);
  for (const ToyOptions& form : forms(GetParam())) {
    const Trained many = toy_run(GetParam(), 3, form);
    EXPECT_EQ(many.weights, one.weights);
    EXPECT_EQ(many.gradients, one.gradients);
  }
}

// Sums of a step's small integers are exact in BF16.
TEST_P(StoreOnLayout, GradientsSentInBf16AreAddedUpWide) {
  const Trained one = toy_run({}, 1);
  for (ToyOptions form : forms(GetParam())) {
    if (form.unsharded_weights == UnshardedWeights::ForwardToBackward) continue;
    form.narrow_reduction = true;
    const Trained many = toy_run(GetParam(), 1, form);
    EXPECT_EQ(many.weights, one.weights);
    EXPECT_EQ(many.gradients, one.gradients);
  }
}

TEST_P(StoreOnLayout, InitialWeightsAreOneRanksBitForBit) {
  for (const DType compute : {DType::F32, DType::BF16}) {
    Values one;
    run_local_ranks(1, Device::cpu(), [&](World& world) {
      ToyRank rank(world, {}, {.compute = compute});
      init_weights(*rank.store, rank.parameters, 7);
      one = read_weights(rank);
    });
    run_local_ranks(GetParam().world(), Device::cpu(), [&](World& world) {
      ToyRank rank(world, GetParam(), {.compute = compute});
      init_weights(*rank.store, rank.parameters, 7);
      EXPECT_EQ(read_weights(rank), one) << "rank " << world.rank();
    });
  }
}

// Up to the use of `block` that writes its gradients.
const BlockUse& go_to_gradient(ToyRank& rank, int block) {
  rank.store->begin(rank.order, false);
  for (const BlockUse& use : rank.order) {
    rank.store->acquire(use);
    if (use.block == block && use.writes_gradients()) return use;
    rank.store->release(use);
  }
  throw std::logic_error("no such use");
}

TEST_P(StoreOnLayout, AStepAfterAnAbandonedOneStartsEmpty) {
  for (const ToyOptions& form : forms(GetParam()))
    run_local_ranks(GetParam().world(), Device::cpu(), [&](World& world) {
      ToyRank rank(world, GetParam(), form);
      const TensorId id = rank.parameters.find("layers.0.mlp.weight");
      for (int step = 0; step < 2; ++step) {
        rank.store->start_step();
        go_to_gradient(rank, 1);
        const GradientSlot slot = rank.store->gradient(id);
        EXPECT_EQ(slot.accumulate, Accumulate::No);
        write_gradient(slot, [](int64_t) { return 1e30f; });
      }
    });
}

// Nobody says which micro-step is the last: what is left is summed when the step ends.
TEST_P(StoreOnLayout, GradientsAreCompleteWithoutALastMicroStep) {
  for (const ToyOptions& form : forms(GetParam()))
    run_local_ranks(GetParam().world(), Device::cpu(), [&](World& world) {
      ToyRank rank(world, GetParam(), form);
      init_weights(*rank.store, rank.parameters, 1);
      rank.store->start_step();
      for (int micro = 0; micro < 2; ++micro) toy_micro_step(rank, 0, micro, false);
      rank.store->finish_gradients();
      std::vector<std::vector<float>> without;
      for (const ParameterShard& shard : rank.store->shards())
        without.emplace_back(shard.gradient.as<float>(),
                             shard.gradient.as<float>() + shard.range.size());
      rank.store->start_step();
      for (int micro = 0; micro < 2; ++micro) toy_micro_step(rank, 0, micro, micro == 1);
      rank.store->finish_gradients();
      for (size_t i = 0; i < without.size(); ++i)
        EXPECT_EQ(without[i], std::vector<float>(rank.store->shards()[i].gradient.as<float>(),
                                                 rank.store->shards()[i].gradient.as<float>() +
                                                     rank.store->shards()[i].range.size()));
    });
}

TEST_P(StoreOnLayout, PlacedBytesAreThePredictedOnes) {
  const TensorTable parameters = toy_parameters();
  for (const DType compute : {DType::F64, DType::F32, DType::BF16})
    for (const ToyOptions& options : forms(GetParam(), compute)) {
      const int64_t predicted =
          plan_memory(store_table(parameters, GetParam(), options)).total_bytes;
      run_local_ranks(GetParam().world(), Device::cpu(), [&](World& world) {
        ToyRank rank(world, GetParam(), options);
        EXPECT_EQ(rank.placed.allocated_bytes(), predicted) << "rank " << world.rank();
      });
    }
}

TEST(InitWeights, FollowsEachRowsRule) {
  const auto world = single_world();
  ToyRank rank(*world, {});
  init_weights(*rank.store, rank.parameters, 1);
  const Values first = read_weights(rank);
  for (size_t row = 0; row < first.size(); ++row) {
    const bool ones = rank.parameters.rows()[row].init == InitRule::Ones;
    double squares = 0.0;
    for (const float value : first[row]) {
      EXPECT_TRUE(!ones || value == 1.0f) << value;
      squares += static_cast<double>(value) * value;
    }
    const double rms = std::sqrt(squares / static_cast<double>(first[row].size()));
    EXPECT_NEAR(rms, ones ? 1.0 : 0.02, 0.01);
  }
  EXPECT_NE(first.front(), first.back()) << "embedding and head share values";
  init_weights(*rank.store, rank.parameters, 2);
  EXPECT_NE(read_weights(rank).front(), first.front()) << "the seed does not matter";
}

TEST(InitWeights, KeepsTheMasterUnrounded) {
  const auto world = single_world();
  ToyRank f32(*world, {});
  ToyRank bf16(*world, {}, {.compute = DType::BF16});
  init_weights(*f32.store, f32.parameters, 5);
  init_weights(*bf16.store, bf16.parameters, 5);
  for (size_t p = 0; p < f32.store->shards().size(); ++p) {
    const ParameterShard& exact = f32.store->shards()[p];
    const ParameterShard& rounded = bf16.store->shards()[p];
    EXPECT_EQ(exact.master.data, exact.weight.data);
    const Tensor joined = exact_weights(bf16.ctx, rounded, 0, rounded.range.size());
    for (int64_t i = 0; i < exact.range.size(); ++i) {
      EXPECT_EQ(joined.as<float>()[i], exact.master.as<float>()[i]);
      EXPECT_EQ(rounded.weight.as<Bf16>()[i].bits, test::rounded_half(exact.master.as<float>()[i]));
    }
  }
}

TEST(InitWeights, InF64AreThoseOfF32) {
  for (const Layout& layout : {Layout{}, Layout{.dp_shard = 3}})
    run_local_ranks(layout.world(), Device::cpu(), [&](World& world) {
      ToyRank f32(world, layout), f64(world, layout, {.compute = DType::F64});
      init_weights(*f32.store, f32.parameters, 5);
      init_weights(*f64.store, f64.parameters, 5);
      for (size_t p = 0; p < f32.store->shards().size(); ++p) {
        const ParameterShard &narrow = f32.store->shards()[p], &wide = f64.store->shards()[p];
        EXPECT_EQ(wide.master.data, wide.weight.data);
        for (int64_t i = 0; i < narrow.range.size(); ++i)
          EXPECT_EQ(wide.master.as<double>()[i], double{narrow.master.as<float>()[i]});
      }
    });
}

TEST(ReplicatedStore, TheFirstWriteOfAStepOverwritesAndLaterOnesAdd) {
  const auto world = single_world();
  ToyRank rank(*world, {});
  const TensorId id = rank.parameters.find("embedding.weight");
  for (int step = 0; step < 2; ++step) {
    rank.store->start_step();
    EXPECT_EQ(rank.store->gradient(id).accumulate, Accumulate::No);
    rank.store->release_gradients(0);
    EXPECT_EQ(rank.store->gradient(id).accumulate, Accumulate::Yes);
  }
}

constexpr Layout kTwoSharded{.dp_shard = 2};

TEST(ShardedStore, TheFirstWriteSinceTheReductionOverwritesAndLaterOnesAdd) {
  for (const GradientSync sync : {GradientSync::MicroStep, GradientSync::Step})
    run_local_ranks(2, Device::cpu(), [&](World& world) {
      ToyRank rank(world, kTwoSharded, {.gradient_sync = sync});
      const TensorId id = rank.parameters.find("layers.1.mlp.weight");
      rank.store->start_step();
      for (int micro = 0; micro < 2; ++micro) {
        const BlockUse use = go_to_gradient(rank, 2);
        const bool kept = sync == GradientSync::Step && micro > 0;
        EXPECT_EQ(rank.store->gradient(id).accumulate, kept ? Accumulate::Yes : Accumulate::No);
        EXPECT_EQ(rank.store->gradient(id).accumulate, Accumulate::Yes);
        rank.store->release_gradients(2);
        rank.store->release(use);
      }
    });
}

void expect_refusal(const std::string& text, const std::function<void(ToyRank&)>& misuse) {
  run_local_ranks(2, Device::cpu(), [&](World& world) {
    ToyRank rank(world, kTwoSharded);
    try {
      misuse(rank);
      ADD_FAILURE() << "expected an Error: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Internal);
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  });
}

TEST(ShardedStore, RefusesUsesOutsideTheirTurn) {
  expect_refusal("block 0 is acquired at tick 0, which is not its turn",
                 [](ToyRank& rank) { rank.store->acquire(rank.order[0]); });
  expect_refusal("block 1 is acquired at tick 1, which is not its turn", [](ToyRank& rank) {
    rank.store->begin(rank.order, false);
    rank.store->acquire(rank.order[2]);
    rank.store->acquire(rank.order[1]);
  });
  expect_refusal("a gradient of block 1 is written at tick 3, which is not its turn",
                 [](ToyRank& rank) {
                   go_to_gradient(rank, 3);
                   rank.store->gradient(rank.parameters.find("layers.0.mlp.weight"));
                 });
}

TEST(ShardedStore, RefusesUseOutsideAcquireAndRelease) {
  expect_refusal("weight of block 1 read while the block is not acquired", [](ToyRank& rank) {
    rank.store->begin(rank.order, false);
    rank.store->acquire(rank.order[1]);
    rank.store->release(rank.order[1]);
    rank.store->weight(rank.parameters.find("layers.0.mlp.weight"));
  });
  expect_refusal("release of block 1, which is not acquired",
                 [](ToyRank& rank) { rank.store->release(rank.order[1]); });
  expect_refusal("the step ends while gradients of block 3 are not released", [](ToyRank& rank) {
    go_to_gradient(rank, 3);
    rank.store->gradient(rank.parameters.find("head.weight"));
    rank.store->finish_gradients();
  });
  expect_refusal("weights published while block 1 is acquired", [](ToyRank& rank) {
    rank.store->begin(rank.order, false);
    rank.store->acquire(rank.order[1]);
    rank.store->publish_weights();
  });
}

TEST(ReplicatedStore, RefusesGradientsAfterTheirSum) {
  run_local_ranks(2, Device::cpu(), [](World& world) {
    ToyRank rank(world, {.dp_replicate = 2});
    init_weights(*rank.store, rank.parameters, 1);
    rank.store->start_step();
    toy_micro_step(rank, 0, 0, /*last=*/true);
    rank.store->begin(rank.order, true);
    EXPECT_THROW(rank.store->gradient({0}), Error);
  });
}

// Collectives of local ranks cannot be recorded; what has none can.
TEST(RecordKey, NamesWhatAMicroStepDependsOnWhereItMayBeRecorded) {
  const auto key = [](const Layout& layout, bool last) {
    std::optional<std::string> first, later;
    run_local_ranks(layout.world(), Device::cpu(), [&](World& world) {
      ToyRank rank(world, layout);
      init_weights(*rank.store, rank.parameters, 1);
      rank.store->start_step();
      const auto before = rank.store->record_key(last);
      toy_micro_step(rank, 0, 0, false);
      const auto after = rank.store->record_key(last);
      if (world.rank() == 0) first = before, later = after;
    });
    EXPECT_EQ(first.has_value(), later.has_value());
    EXPECT_TRUE(!first || first != later) << "the first write overwrites, later ones add";
    return first;
  };
  EXPECT_TRUE(key({}, false));
  EXPECT_EQ(key({}, false), key({}, true));
  EXPECT_TRUE(key({.dp_replicate = 2}, false));
  EXPECT_FALSE(key({.dp_replicate = 2}, true));
  EXPECT_FALSE(key({.dp_shard = 2}, false));
}

TEST(RecordKey, ARecordCountsAsTheMicroStepItIsOf) {
  const auto world = single_world();
  ToyRank rank(*world, {});
  rank.store->start_step();
  rank.store->note_record(false);
  EXPECT_EQ(rank.store->gradient({0}).accumulate, Accumulate::Yes);
  rank.store->start_step();
  EXPECT_EQ(rank.store->gradient({0}).accumulate, Accumulate::No);
}

// As communicators of GPUs will be.
class CapturableWorld final : public test::ForwardingWorld {
 public:
  using ForwardingWorld::ForwardingWorld;
  std::unique_ptr<Communicator> communicator(std::span<const int> ranks,
                                             Context& compute) override {
    class Capturable final : public test::ForwardingCommunicator {
     public:
      using ForwardingCommunicator::ForwardingCommunicator;
      bool capturable() const override { return true; }
    };
    return std::make_unique<Capturable>(ForwardingWorld::communicator(ranks, compute));
  }
};

// Whatever the form: what is issued, and what is only noted since a record of it was, lead to the
// same keys, and micro-steps that do different things have different ones.
TEST_P(StoreOnLayout, RecordedMicroStepsLeaveTheStoreAsIssuedOnesDo) {
  for (const ToyOptions& form : forms(GetParam()))
    run_local_ranks(GetParam().world(), Device::cpu(), [&](World& inner) {
      CapturableWorld world(inner);
      ToyRank issued(world, GetParam(), form), noted(world, GetParam(), form);
      std::vector<std::string> keys;
      for (int step = 0; step < 3; ++step) {
        for (ToyRank* rank : {&issued, &noted}) {
          if (step == 0) init_weights(*rank->store, rank->parameters, 1);
          if (step > 0) rank->store->publish_weights();
          rank->store->start_step();
        }
        for (int micro = 0; micro < 3; ++micro) {
          const bool last = micro == 2;
          const auto key = issued.store->record_key(last);
          ASSERT_TRUE(key);
          ASSERT_EQ(noted.store->record_key(last), key) << "step " << step << " micro " << micro;
          toy_micro_step(issued, 0, micro, last);
          if (step == 0)
            toy_micro_step(noted, 0, micro, last);
          else
            noted.store->note_record(last);
          if (step == 2) keys.push_back(*key);
        }
        issued.store->finish_gradients();
        noted.store->finish_gradients();
      }
      EXPECT_NE(keys[0], keys[1]) << "the first write overwrites, later ones add";
      EXPECT_EQ(keys[1] == keys[2], GetParam().world() == 1) << "the last reduces";
    });
}

TEST(MakeParameterStore, RefusesAWorldOfAnotherSize) {
  const auto world = single_world();
  EXPECT_THROW(ToyRank(*world, {.dp_replicate = 2}), Error);
}

}  // namespace
}  // namespace ingot
