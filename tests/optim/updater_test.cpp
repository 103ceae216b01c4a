// What every optimizer shares: the norm, and updates that do not happen.
#include "optim/updater.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/device/arena.h"
#include "ops/reduce.h"
#include "plan/workspace.h"
#include "support/toy_update.h"

namespace ingot {
namespace {

using testing::ToyUpdater;
using testing::write_gradient;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kLossScale = 64.0;

OptimConfig config_of(OptimKind kind, DType moments) {
  OptimConfig config;
  config.kind = kind;
  config.moments = moments;
  config.lr = 0.01;
  return config;
}

// One rank of the toy parameters under any optimizer.
struct Rank {
  TensorTable parameters = testing::toy_parameters();
  Layout layout;
  ThreadPool pool{2};
  Context ctx;
  Arena scratch;
  PlacedTensors placed;
  std::unique_ptr<World> world = single_world();
  std::unique_ptr<ParameterStore> store;

  static TensorTable rows(const OptimConfig& config, DType compute) {
    TensorTable table;
    add_store_rows(table, testing::toy_parameters(), compute, {}, {config});
    return table;
  }

  Rank(const OptimConfig& config, DType compute)
      : ctx{.device = Device::cpu(), .pool = &pool, .workspace = {}},
        scratch(Device::cpu(),
                update_workspace_bytes(ctx.facts, compute, parameters, config, layout) + 1),
        placed(rows(config, compute), Device::cpu()) {
    ctx.workspace = Workspace(scratch.place(0, DType::U8, {scratch.bytes()}));
    store = make_parameter_store(ctx, *world, parameters, {}, placed, compute);
    init_weights(*store, parameters, 1);
  }

  // Of step `step`; not a number where it is 0.
  void write_gradients(int64_t step) {
    store->start_step();
    for (int32_t row = 0; row < static_cast<int32_t>(parameters.rows().size()); ++row)
      write_gradient(store->gradient({row}), [&](int64_t i) {
        return step == 0 ? kNan : static_cast<float>((i * 7 + row * 5 + step * 3) % 11 - 5);
      });
    store->finish_gradients();
  }

  // Every bit of weights, masters and states.
  std::string bits() const {
    std::string all;
    const auto add = [&](const Tensor& tensor) {
      all.append(static_cast<const char*>(tensor.data), static_cast<size_t>(tensor.bytes()));
    };
    for (const ParameterShard& shard : store->shards()) {
      add(shard.weight);
      add(shard.master);
      for (const Tensor& state : shard.states) add(state);
    }
    return all;
  }
};

struct Kept {
  OptimKind kind;
  DType moments, compute;
};

class Updates : public ::testing::TestWithParam<Kept> {
 protected:
  OptimConfig config_ = config_of(GetParam().kind, GetParam().moments);
  Rank rank_{config_, GetParam().compute};
  ToyUpdater update_{rank_, config_};

  // Updates by the gradients of the given steps, 0 for one that is not finite, the count of
  // updates kept as a run does; the bits after.
  std::string bits_after(const std::vector<int64_t>& gradients) {
    Rank rank(config_, GetParam().compute);
    ToyUpdater update(rank, config_);
    int64_t count = 0;
    for (const int64_t gradient : gradients) {
      rank.write_gradients(gradient);
      if (!update({config_.lr, count + 1, 5, kLossScale}).skipped) ++count;
    }
    return rank.bits();
  }
};

TEST_P(Updates, OneThatIsSkippedLeavesEveryBitAndTheCount) {
  rank_.write_gradients(1);
  update_({config_.lr, 1, 5, kLossScale});
  const std::string before = rank_.bits();
  rank_.write_gradients(0);
  const UpdateReport report = update_({config_.lr, 2, 5, kLossScale});
  EXPECT_TRUE(report.skipped);
  EXPECT_TRUE(std::isnan(report.grad_norm));
  EXPECT_EQ(rank_.bits(), before);
  EXPECT_EQ(update_.count(), 1);
}

TEST_P(Updates, OneThatIsSkippedInTheMiddleIsAsIfItsStepHadNotBeen) {
  EXPECT_EQ(bits_after({1, 2, 0, 3, 0, 0, 4}), bits_after({1, 2, 3, 4}));
  EXPECT_NE(bits_after({1, 2, 3, 4}), bits_after({1, 2, 3}));
}

// The host may learn of it later: the device counts by itself.
TEST_P(Updates, OneThatIsSkippedCountsForNothingBeforeTheHostKnows) {
  int64_t step = 0;
  for (const int64_t gradient : {1, 2, 0, 3, 4}) {
    rank_.write_gradients(gradient);
    update_.updater().update({config_.lr, ++step, 5, kLossScale});
  }
  EXPECT_EQ(rank_.bits(), bits_after({1, 2, 3, 4}));
  EXPECT_EQ(update_.count(), 4);
}

TEST_P(Updates, ARunThatGoesOnElsewhereCountsOn) {
  for (const int64_t step : {1, 2}) {
    rank_.write_gradients(step);
    update_({config_.lr, step, 5, kLossScale});
  }
  ToyUpdater resumed(rank_, config_);
  rank_.write_gradients(3);
  resumed({config_.lr, 3, 5, kLossScale});
  EXPECT_EQ(rank_.bits(), bits_after({1, 2, 3}));
}

TEST_P(Updates, TheNormIsTheRootOfTheSumsInTheOrderOfTheParameters) {
  rank_.write_gradients(2);
  double squares = 0.0;
  for (const ParameterShard& shard : rank_.store->shards()) {
    double own = 0.0;
    sum_of_squares(rank_.ctx, {&shard.gradient, 1}, Tensor::contiguous(&own, DType::F64, {1}));
    squares += own;
  }
  const UpdateReport report = update_({config_.lr, 1, 5, kLossScale});
  EXPECT_EQ(report.grad_norm, std::sqrt(squares) / kLossScale);
  EXPECT_EQ(report.clip_scale, std::min(1.0, config_.clip / (report.grad_norm + 1e-6)));
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Updates,
                         ::testing::Values(Kept{OptimKind::AdamW, DType::F32, DType::F32},
                                           Kept{OptimKind::AdamW, DType::BF16, DType::BF16},
                                           Kept{OptimKind::Muon, DType::BF16, DType::F32},
                                           Kept{OptimKind::Muon, DType::F32, DType::BF16}),
                         [](const auto& kept) {
                           return std::string(kept.param.kind == OptimKind::AdamW ? "adamw"
                                                                                  : "muon") +
                                  "_" + std::string(name_of(kept.param.moments)) + "_" +
                                  std::string(name_of(kept.param.compute));
                         });

}  // namespace
}  // namespace ingot
