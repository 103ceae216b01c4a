#include "parallel/shard/parameter_store.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "core/error.h"
#include "spec/optimizer_states.h"
#include "spec/store_rows.h"
#include "support/halves.h"
#include "support/toy_store.h"

namespace ingot {
namespace {

using testing::layout_name;
using testing::store_table;
using testing::toy_parameters;
using testing::ToyRank;
using testing::write_gradient;

constexpr int kNumBlocks = 4;
constexpr int kMicroBatches = 12;  // a global step; 1, 2, 3 and 4 ranks divide it

using Values = std::vector<std::vector<float>>;  // by parameter

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> layouts = {
      {.dp_replicate = 2}, {.dp_replicate = 3}, {.dp_replicate = 4}, {},
      {.dp_shard = 2},     {.dp_shard = 3},     {.dp_shard = 4}};
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
  Values values;
  for (int32_t row = 0; row < static_cast<int32_t>(rank.parameters.rows().size()); ++row) {
    const TensorId id{row};
    rank.store->acquire(rank.parameters[id].block);
    const Tensor weight = rank.store->weight(id);
    EXPECT_EQ(weight.shape, rank.parameters[id].shape);
    if (weight.dtype == DType::F32) {
      values.emplace_back(weight.as<float>(), weight.as<float>() + weight.numel());
    } else {
      values.emplace_back();
      for (int64_t i = 0; i < weight.numel(); ++i)
        values.back().push_back(weight.as<Bf16>()[i].to_float());
    }
    rank.store->release(rank.parameters[id].block);
  }
  return values;
}

// An integer, so that sums are exact and every layout must give the same bits; it depends on the
// weight, so that a wrong gather shows.
float toy_gradient(float weight, int64_t i, int step, int micro) {
  const auto seen = static_cast<int64_t>(std::nearbyint(weight * 64.0f));
  return static_cast<float>((seen * 5 + i * 7 + micro * 3 + step) % 13);
}

void write_toy_gradient(ToyRank& rank, TensorId id, int step, int micro) {
  const float* weight = rank.store->weight(id).as<float>();
  write_gradient(rank.store->gradient(id),
                 [&](int64_t i) { return toy_gradient(weight[i], i, step, micro); });
}

// The order in which a model with a tied head uses the store: the head writes the embedding's
// gradient, and the embedding writes it again. The first layer's norm is written only in even
// steps, by nobody in odd ones.
void toy_micro_step(ToyRank& rank, int step, int micro) {
  ParameterStore& store = *rank.store;
  for (int block = 0; block < kNumBlocks; ++block) {
    store.acquire(block);
    store.release(block);
  }
  const TensorId embedding = rank.parameters.find("embedding.weight");
  store.acquire(0);
  store.acquire(3);
  write_toy_gradient(rank, embedding, step, micro);
  write_toy_gradient(rank, rank.parameters.find("final_norm.weight"), step, micro);
  write_toy_gradient(rank, rank.parameters.find("head.weight"), step, micro);
  store.release_gradients(0);
  store.release_gradients(3);
  store.release(3);
  store.release(0);
  for (int block = 2; block >= 1; --block) {
    store.acquire(block);
    const std::string layer = "layers." + std::to_string(block - 1);
    write_toy_gradient(rank, rank.parameters.find(layer + ".mlp.weight"), step, micro);
    if (block != 1 || step % 2 == 0)
      write_toy_gradient(rank, rank.parameters.find(layer + ".norm.weight"), step, micro);
    store.release_gradients(block);
    store.release(block);
  }
  store.acquire(0);
  write_toy_gradient(rank, embedding, step, micro + 1);
  store.release_gradients(0);
  store.release(0);
}

struct Trained {
  Values weights;
  Values gradients;  // of the last step
};

// The same global steps on any layout, with plain descent as the optimizer.
Trained toy_run(const Layout& layout, int steps) {
  Trained run;
  std::mutex mutex;
  run_local_ranks(layout.world(), Device::cpu(), [&](World& world) {
    ToyRank rank(world, layout);
    init_weights(*rank.store, rank.parameters, 42);
    for (int step = 0; step < steps; ++step) {
      rank.store->start_step();
      for (int micro = world.rank(); micro < kMicroBatches; micro += world.size())
        toy_micro_step(rank, step, micro);
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
  });
  return run;
}

class StoreOnLayout : public ::testing::TestWithParam<Layout> {};
INSTANTIATE_TEST_SUITE_P(Layouts, StoreOnLayout, ::testing::ValuesIn(layouts()), param_name);

TEST_P(StoreOnLayout, StepsGiveOneRanksWeightsAndGradients) {
  for (const int steps : {1, 4}) {
    const Trained one = toy_run({}, steps);
    const Trained many = toy_run(GetParam(), steps);
    EXPECT_EQ(many.weights, one.weights);
    EXPECT_EQ(many.gradients, one.gradients);
  }
}

TEST_P(StoreOnLayout, InitialWeightsAreOneRanksBitForBit) {
  for (const DType compute : {DType::F32, DType::BF16}) {
    Values one;
    run_local_ranks(1, Device::cpu(), [&](World& world) {
      ToyRank rank(world, {}, compute);
      init_weights(*rank.store, rank.parameters, 7);
      one = read_weights(rank);
    });
    run_local_ranks(GetParam().world(), Device::cpu(), [&](World& world) {
      ToyRank rank(world, GetParam(), compute);
      init_weights(*rank.store, rank.parameters, 7);
      EXPECT_EQ(read_weights(rank), one) << "rank " << world.rank();
    });
  }
}

TEST_P(StoreOnLayout, AStepAfterAnAbandonedOneStartsEmpty) {
  run_local_ranks(GetParam().world(), Device::cpu(), [&](World& world) {
    ToyRank rank(world, GetParam());
    const TensorId id = rank.parameters.find("layers.0.mlp.weight");
    rank.store->start_step();
    write_gradient(rank.store->gradient(id), [](int64_t) { return 1e30f; });
    rank.store->start_step();
    EXPECT_EQ(rank.store->gradient(id).accumulate, Accumulate::No);
  });
}

// What the rows must add up to, from the definition rather than from add_store_rows.
int64_t expected_bytes(const TensorTable& parameters, const Layout& layout, DType compute) {
  const bool sharded = layout.dp_shard > 1;
  const int64_t width = size_of(compute), wide = compute == DType::F64 ? 8 : 4;
  int64_t total = 0;
  int64_t largest_part = 0;
  std::vector<int64_t> block(kNumBlocks);
  for (const TensorSpec& row : parameters.rows()) {
    const int64_t part = (row.shape.numel() + layout.dp_shard - 1) / layout.dp_shard;
    const int64_t held = sharded ? part : row.shape.numel();
    total += align_up(held * width) + 3 * align_up(held * wide);
    if (compute == DType::BF16) total += align_up(held * 4);
    block[static_cast<size_t>(row.block)] += (part * layout.dp_shard + 127) / 128 * 128;
    largest_part = std::max(largest_part, part);
  }
  if (!sharded) return total;
  const int64_t largest = *std::max_element(block.begin(), block.end());
  return total + 2 * align_up(largest * width) + 2 * align_up(largest * wide) +
         align_up(largest_part * wide);
}

TEST_P(StoreOnLayout, PlacedBytesAreThePredictedOnes) {
  const TensorTable parameters = toy_parameters();
  for (const DType compute : {DType::F64, DType::F32, DType::BF16}) {
    const TensorTable table = store_table(parameters, compute, GetParam());
    const int64_t predicted = plan_memory(table).total_bytes;
    EXPECT_EQ(predicted, expected_bytes(parameters, GetParam(), compute));
    run_local_ranks(GetParam().world(), Device::cpu(), [&](World& world) {
      ToyRank rank(world, GetParam(), compute);
      EXPECT_EQ(rank.placed.allocated_bytes(), predicted) << "rank " << world.rank();
    });
  }
}

TEST(StoreRows, MomentsTakeTheAskedDtypeButMuonsMomentum) {
  const TensorTable parameters = toy_parameters();
  for (const OptimKind kind : {OptimKind::AdamW, OptimKind::Muon}) {
    TensorTable table;
    OptimConfig optim;
    optim.kind = kind;
    optim.moments = DType::BF16;
    add_store_rows(table, parameters, DType::BF16, {}, {optim});
    for (const TensorSpec& parameter : parameters.rows()) {
      const bool muon = optimizer_of(optim, parameter) == OptimKind::Muon;
      const auto dtype = [&](const char* prefix) {
        return table[table.find(prefix + parameter.name)].dtype;
      };
      EXPECT_EQ(dtype("moment1:"), muon ? DType::F32 : DType::BF16) << parameter.name;
      const TensorId second = table.try_find("moment2:" + parameter.name);
      ASSERT_EQ(second.valid(), !muon) << parameter.name;
      EXPECT_TRUE(muon || table[second].dtype == DType::BF16) << parameter.name;
      EXPECT_EQ(dtype("grad:"), DType::F32);
      EXPECT_EQ(dtype("master:"), DType::U16);
    }
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
  ToyRank bf16(*world, {}, DType::BF16);
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
      ToyRank f32(world, layout), f64(world, layout, DType::F64);
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

TEST(ShardedStore, TheFirstWriteSinceReleaseOverwritesAndLaterOnesAdd) {
  run_local_ranks(2, Device::cpu(), [](World& world) {
    ToyRank rank(world, kTwoSharded);
    const TensorId id = rank.parameters.find("embedding.weight");
    rank.store->start_step();
    for (int micro = 0; micro < 2; ++micro) {
      EXPECT_EQ(rank.store->gradient(id).accumulate, Accumulate::No);
      EXPECT_EQ(rank.store->gradient(id).accumulate, Accumulate::Yes);
      rank.store->release_gradients(0);
    }
  });
}

ErrorCode code_of(const std::function<void(ToyRank&)>& misuse) {
  ErrorCode code{};
  std::mutex mutex;
  run_local_ranks(2, Device::cpu(), [&](World& world) {
    ToyRank rank(world, kTwoSharded);
    try {
      misuse(rank);
      ADD_FAILURE() << "expected an Error";
    } catch (const Error& error) {
      const std::scoped_lock lock(mutex);
      code = error.code();
    }
  });
  return code;
}

TEST(ShardedStore, RefusesWhatItsTwoBuffersCannotHold) {
  EXPECT_EQ(code_of([](ToyRank& rank) {
              for (const int block : {0, 1, 2}) rank.store->acquire(block);
            }),
            ErrorCode::Internal);
  EXPECT_EQ(
      code_of([](ToyRank& rank) {
        for (const char* name : {"embedding.weight", "layers.0.mlp.weight", "layers.1.mlp.weight"})
          rank.store->gradient(rank.parameters.find(name));
      }),
      ErrorCode::Internal);
}

TEST(ShardedStore, RefusesUseOutsideAcquireAndRelease) {
  EXPECT_EQ(code_of([](ToyRank& rank) {
              rank.store->acquire(1);
              rank.store->release(1);
              rank.store->weight(rank.parameters.find("layers.0.mlp.weight"));
            }),
            ErrorCode::Internal);
  EXPECT_EQ(code_of([](ToyRank& rank) { rank.store->release(1); }), ErrorCode::Internal);
  EXPECT_EQ(code_of([](ToyRank& rank) {
              rank.store->gradient(rank.parameters.find("head.weight"));
              rank.store->finish_gradients();
            }),
            ErrorCode::Internal);
  EXPECT_EQ(code_of([](ToyRank& rank) {
              rank.store->acquire(1);
              rank.store->publish_weights();
            }),
            ErrorCode::Internal);
}

TEST(MakeParameterStore, RefusesACommunicatorOfAnotherSize) {
  const auto world = single_world();
  EXPECT_THROW(ToyRank(*world, {.dp_replicate = 2}), Error);
}

}  // namespace
}  // namespace ingot
