#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <vector>

#include "core/error/error.h"
#include "support/halves.h"
#include "support/toy_update.h"

namespace ingot {
namespace {

using testing::layout_name;
using testing::ToyRank;
using testing::ToyUpdater;
using testing::visit_weights;
using testing::write_gradients;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

UpdateReport update(ToyRank& rank, const OptimConfig& config, int64_t step = 1) {
  return ToyUpdater(rank, config)({config.lr, step});
}

int64_t num_elements(const TensorTable& parameters) {
  int64_t n = 0;
  for (const TensorSpec& row : parameters.rows()) n += row.shape.numel();
  return n;
}

class UpdateOnLayout : public ::testing::TestWithParam<Layout> {};
INSTANTIATE_TEST_SUITE_P(Layouts, UpdateOnLayout,
                         ::testing::Values(Layout{}, Layout{.dp_replicate = 2},
                                           Layout{.dp_replicate = 4}, Layout{.dp_shard = 2},
                                           Layout{.dp_shard = 3}, Layout{.dp_shard = 4}),
                         [](const auto& layout) { return layout_name(layout.param); });

TEST_P(UpdateOnLayout, TheNormCountsEveryElementOnceAndClipsAsTorchDoes) {
  run_local_ranks(GetParam().world(), Device::cpu(), [&](World& world) {
    ToyRank rank(world, GetParam());
    init_weights(*rank.store, rank.parameters, 1);
    const float mine = 3.0f / static_cast<float>(world.size());  // the ranks' sum is 3
    const double norm = 3.0 * std::sqrt(static_cast<double>(num_elements(rank.parameters)));
    for (const double clip : {0.0, 0.5, norm + 1.0}) {
      write_gradients(rank, [&](int32_t, int64_t) { return mine; });
      OptimConfig config;
      config.clip = clip;
      const UpdateReport report = update(rank, config);
      EXPECT_NEAR(report.grad_norm, norm, 1e-6 * norm);
      const double scale = clip == 0.5 ? 0.5 / (report.grad_norm + 1e-6) : 1.0;
      EXPECT_DOUBLE_EQ(report.clip_scale, scale);
    }
  });
}

// A gradient that no layout can sum in another way than exactly: integers, split over the ranks.
float toy_gradient(int rank, int step, int32_t row, int64_t i) {
  if (rank > 0) return 0.0f;
  return static_cast<float>((i * 7 + row * 5 + step * 3) % 11 - 5);
}

std::vector<std::vector<float>> weights_after(const Layout& layout, int64_t steps) {
  std::vector<std::vector<float>> weights;
  std::mutex mutex;
  run_local_ranks(layout.world(), Device::cpu(), [&](World& world) {
    ToyRank rank(world, layout);
    init_weights(*rank.store, rank.parameters, 3);
    OptimConfig config;
    config.clip = 2.0;
    for (int64_t step = 1; step <= steps; ++step) {
      write_gradients(rank, [&](int32_t row, int64_t i) {
        return toy_gradient(world.rank(), static_cast<int>(step), row, i);
      });
      update(rank, config, step);
    }
    std::vector<std::vector<float>> mine(rank.parameters.rows().size());
    visit_weights(rank, [&](TensorId id, const Tensor& weight) {
      mine[static_cast<size_t>(id.row)].assign(weight.as<float>(),
                                               weight.as<float>() + weight.numel());
    });
    const std::scoped_lock lock(mutex);
    if (weights.empty()) weights = mine;
    EXPECT_EQ(mine, weights) << "ranks differ";
  });
  return weights;
}

TEST_P(UpdateOnLayout, RanksTogetherUpdateAsOneRankDoes) {
  const auto one = weights_after({}, 5);
  const auto many = weights_after(GetParam(), 5);
  for (size_t row = 0; row < one.size(); ++row)
    for (size_t i = 0; i < one[row].size(); ++i)
      EXPECT_NEAR(many[row][i], one[row][i], 1e-6f) << row << " " << i;
}

TEST_P(UpdateOnLayout, ANonFiniteNormChangesNothingOnAnyRank) {
  run_local_ranks(GetParam().world(), Device::cpu(), [&](World& world) {
    ToyRank rank(world, GetParam());
    init_weights(*rank.store, rank.parameters, 1);
    auto state = [&] {
      std::vector<float> values;
      for (const ParameterShard& shard : rank.store->shards())
        for (const Tensor& tensor : {shard.master, shard.states[0], shard.states[1]})
          values.insert(values.end(), tensor.as<float>(), tensor.as<float>() + tensor.numel());
      return values;
    };
    const std::vector<float> before = state();
    write_gradients(rank, [&](int32_t row, int64_t i) {
      return world.rank() == 0 && row == 3 && i == 0 ? kNan : 1.0f;
    });
    EXPECT_TRUE(update(rank, {}).skipped) << "rank " << world.rank();
    EXPECT_EQ(state(), before);
  });
}

// By row and element of the whole parameter: what is stored as master, moment1 and moment2 after
// some steps with BF16 moments, whoever held it. Without clipping: its factor comes from a norm
// that ranks add up in another order.
using Stored = std::map<std::pair<int32_t, int64_t>, std::array<uint32_t, 3>>;

Stored stored_after(const Layout& layout, int64_t steps, uint64_t seed) {
  Stored stored;
  std::mutex mutex;
  run_local_ranks(layout.world(), Device::cpu(), [&](World& world) {
    ToyRank rank(world, layout, {.moments = DType::BF16});
    init_weights(*rank.store, rank.parameters, 3);
    OptimConfig config;
    config.clip = 0.0;
    for (int64_t step = 1; step <= steps; ++step) {
      write_gradients(rank, [&](int32_t row, int64_t i) {
        return toy_gradient(world.rank(), static_cast<int>(step), row, i);
      });
      ToyUpdater(rank, config)({config.lr, step, seed});
    }
    const std::scoped_lock lock(mutex);
    for (const ParameterShard& shard : rank.store->shards())
      for (int64_t i = 0; i < shard.range.size(); ++i) {
        const std::array<uint32_t, 3> mine = {std::bit_cast<uint32_t>(shard.master.as<float>()[i]),
                                              shard.states[0].as<Bf16>()[i].bits,
                                              shard.states[1].as<Bf16>()[i].bits};
        const auto [found, is_new] =
            stored.try_emplace({shard.parameter.row, shard.range.begin + i}, mine);
        EXPECT_EQ(found->second, mine) << "ranks differ";
      }
  });
  return stored;
}

TEST_P(UpdateOnLayout, Bf16MomentsAreBitEqualToOneRanks) {
  const Stored one = stored_after({}, 5, 8);
  EXPECT_EQ(stored_after(GetParam(), 5, 8), one);
  EXPECT_NE(stored_after(GetParam(), 5, 9), one) << "the seed chooses the rounding";
}

TEST_P(UpdateOnLayout, ALossScaleChangesNothingButItsOwnOverflow) {
  run_local_ranks(GetParam().world(), Device::cpu(), [&](World& world) {
    ToyRank plain(world, GetParam()), scaled(world, GetParam());
    const auto step = [&](ToyRank& rank, float scale, UpdateStep how) {
      init_weights(*rank.store, rank.parameters, 1);
      write_gradients(rank, [&](int32_t row, int64_t i) {
        return scale * toy_gradient(world.rank(), 1, row, i);
      });
      return ToyUpdater(rank, {})(how);
    };
    const auto state = [](const ToyRank& rank) {
      std::vector<float> values;
      for (const ParameterShard& shard : rank.store->shards())
        for (const Tensor& tensor : {shard.master, shard.states[0], shard.states[1]})
          values.insert(values.end(), tensor.as<float>(), tensor.as<float>() + tensor.numel());
      return values;
    };
    const UpdateReport wanted = step(plain, 1.0f, {1e-2, 1});
    const UpdateReport got = step(scaled, 1024.0f, {1e-2, 1, 0, 1024.0});
    EXPECT_EQ(got.grad_norm, wanted.grad_norm);
    EXPECT_EQ(got.clip_scale, wanted.clip_scale);
    EXPECT_FALSE(got.skipped);
    EXPECT_EQ(state(scaled), state(plain));

    write_gradients(scaled, [&](int32_t, int64_t) { return kNan; });
    const UpdateReport overflow = ToyUpdater(scaled, {})({1e-2, 2, 0, 1024.0});
    EXPECT_TRUE(overflow.skipped);
    EXPECT_EQ(state(scaled), state(plain));
  });
}

TEST(AdamWUpdate, DecaysEveryRoleButNorms) {
  const auto world = single_world();
  ToyRank rank(*world, {});
  init_weights(*rank.store, rank.parameters, 1);
  std::vector<std::vector<float>> before;
  for (const ParameterShard& shard : rank.store->shards())
    before.emplace_back(shard.master.as<float>(), shard.master.as<float>() + shard.range.size());
  rank.store->start_step();
  rank.store->finish_gradients();  // nobody wrote: all gradients are zero
  OptimConfig config;
  config.lr = 0.25;
  config.weight_decay = 0.5;
  EXPECT_EQ(update(rank, config).grad_norm, 0.0);
  for (size_t row = 0; row < before.size(); ++row) {
    const bool norm = rank.parameters.rows()[row].role == Role::Norm;
    const ParameterShard& shard = rank.store->shards()[row];
    for (int64_t i = 0; i < shard.range.size(); ++i)
      EXPECT_FLOAT_EQ(shard.master.as<float>()[i],
                      before[row][static_cast<size_t>(i)] * (norm ? 1.0f : 0.875f));
  }
}

TEST(AdamWUpdate, TheFirstStepMovesEachWeightByLrAgainstItsGradient) {
  const auto world = single_world();
  ToyRank rank(*world, {});
  init_weights(*rank.store, rank.parameters, 1);
  std::vector<float> before;
  for (const ParameterShard& shard : rank.store->shards())
    before.push_back(shard.master.as<float>()[0]);
  write_gradients(rank, [](int32_t row, int64_t) { return row % 2 == 0 ? 4.0f : -0.5f; });
  OptimConfig config;
  config.lr = 0.01;
  config.weight_decay = 0.0;
  config.clip = 0.0;
  update(rank, config);
  for (size_t row = 0; row < before.size(); ++row)
    EXPECT_NEAR(rank.store->shards()[row].master.as<float>()[0],
                before[row] + (row % 2 == 0 ? -0.01f : 0.01f), 1e-6f);
}

TEST(AdamWUpdate, PublishesTheRoundedMasterAsWeight) {
  for (const int ranks : {1, 2})
    run_local_ranks(ranks, Device::cpu(), [&](World& world) {
      const Layout layout{.dp_shard = ranks};
      ToyRank rank(world, layout, {.compute = DType::BF16});
      init_weights(*rank.store, rank.parameters, 1);
      // A gathered copy of the old weights must not outlive the update.
      visit_weights(rank, [](TensorId, const Tensor&) {});
      write_gradients(rank, [](int32_t, int64_t) { return 1.0f; });
      update(rank, {});
      const ParameterShard& shard = rank.store->shards()[2];  // layers.0.mlp.weight, block 1
      const Tensor exact = exact_weights(rank.ctx, shard, 0, shard.range.size());
      visit_weights(rank, [&](TensorId id, const Tensor& weight) {
        if (id != shard.parameter) return;
        for (int64_t i = 0; i < shard.range.size(); ++i)
          EXPECT_EQ(weight.as<Bf16>()[shard.range.begin + i].bits,
                    test::rounded_half(exact.as<float>()[i]));
      });
    });
}

}  // namespace
}  // namespace ingot
