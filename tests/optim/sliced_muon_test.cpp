// Muon on ranks that hold slices of the matrices is one rank's Muon.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/device/arena.h"
#include "core/random/random.h"
#include "ops/update/muon.h"
#include "plan/workspace.h"
#include "spec/rows/store_rows.h"
#include "support/toy_update.h"

namespace ingot {
namespace {

TensorSpec row_of(std::string name, Shape shape, int block, Role role,
                  std::vector<int64_t> parts = {}) {
  TensorSpec row = testing::weight_row(std::move(name), shape, block, role, 0.05);
  row.parts = std::move(parts);
  return row;
}

// Fused and stacked as a layer with few heads of keys has them, odd, tall, and of fewer elements
// than there are ranks; beside what stays with AdamW.
TensorTable many_matrices() {
  TensorTable table;
  table.add(row_of("embedding.weight", {7, 5}, 0, Role::Embedding));
  table.add(row_of("a.norm.weight", {5}, 1, Role::Norm));
  table.add(row_of("a.qkv.weight", {32, 16}, 1, Role::Matrix, {16, 8, 8}));
  table.add(row_of("a.up.weight", {46, 16}, 1, Role::Matrix, {23, 23}));
  table.add(row_of("a.down.weight", {16, 23}, 1, Role::Matrix));
  table.add(row_of("b.qkv.weight", {40, 13}, 2, Role::Matrix, {24, 9, 7}));
  table.add(row_of("b.tall.weight", {37, 11}, 2, Role::Matrix));
  table.add(row_of("b.row.weight", {1, 3}, 2, Role::Matrix));
  table.add(row_of("b.column.weight", {6, 1}, 2, Role::Matrix));
  table.add(row_of("head.weight", {7, 5}, 3, Role::Head));
  return table;
}

// One small matrix that all but its owner only send to.
TensorTable one_matrix() {
  TensorTable table;
  table.add(row_of("embedding.weight", {3, 2}, 0, Role::Embedding));
  table.add(row_of("a.weight", {3, 5}, 1, Role::Matrix));
  table.add(row_of("b.norm.weight", {2}, 2, Role::Norm));
  table.add(row_of("head.weight", {3, 2}, 3, Role::Head));
  return table;
}

OptimConfig muon_config(double clip) {
  OptimConfig config;
  config.kind = OptimKind::Muon;
  config.clip = clip;
  return config;
}

double gradient_of(int32_t row, int64_t step, int64_t i) {
  const RandomStream stream(5, Purpose::Test, static_cast<uint32_t>(row),
                            static_cast<uint64_t>(step));
  return static_cast<double>(stream.normal(static_cast<uint64_t>(i)));
}

struct Case {
  TensorTable parameters = many_matrices();
  Layout layout = {};
  DType compute = DType::F32;
  double clip = 0.0;
  LaneDelay delay = {};
};

// One rank, with exactly the scratch that is planned.
struct Rank {
  TensorTable parameters;
  Layout layout;
  ThreadPool pool{1};
  Context ctx;
  Arena scratch;
  PlacedTensors placed;
  std::unique_ptr<ParameterStore> store;

  static TensorTable rows(const Case& c) {
    TensorTable table;
    add_store_rows(table, c.parameters, c.compute, c.layout,
                   {.optim = muon_config(c.clip), .order = testing::toy_order()});
    return table;
  }

  Rank(const Case& c, World& world)
      : parameters(c.parameters),
        layout(c.layout),
        ctx{.device = Device::cpu(), .pool = &pool, .workspace = {}},
        scratch(Device::cpu(), update_workspace_bytes(ctx.facts, c.compute, parameters,
                                                      muon_config(c.clip), layout)),
        placed(rows(c), Device::cpu()) {
    ctx.workspace = Workspace(scratch.place(0, DType::U8, {scratch.bytes()}));
    store = make_parameter_store(ctx, world, parameters, layout, placed, c.compute);
    init_weights(*store, parameters, 1);
  }

  template <class Value>
  void write_gradients(const Value& value) {
    for (const ParameterShard& shard : store->shards())
      for (int64_t i = 0; i < shard.range.size(); ++i) {
        const double g = value(shard.parameter.row, shard.range.begin + i);
        if (shard.gradient.dtype == DType::F64)
          shard.gradient.as<double>()[i] = g;
        else
          shard.gradient.as<float>()[i] = static_cast<float>(g);
      }
  }

  // Writes its part of every exact weight and state into `whole`.
  void collect(std::map<std::string, std::vector<double>>& whole) const {
    for (const ParameterShard& shard : store->shards()) {
      const TensorSpec& row = parameters[shard.parameter];
      const int64_t n = shard.range.size();
      const auto copy = [&](const std::string& name, const Tensor& part) {
        auto& values = whole[name];
        values.resize(static_cast<size_t>(row.shape.numel()));
        for (int64_t i = 0; i < n; ++i)
          values[static_cast<size_t>(shard.range.begin + i)] =
              part.dtype == DType::F64 ? part.as<double>()[i] : part.as<float>()[i];
      };
      if (n == 0) continue;
      for (size_t i = 0; i < shard.states.size(); ++i)
        copy(shard.state_names[i] + ":" + row.name, shard.states[i]);
      copy(row.name, exact_weights(store->context(), shard, 0, n));
    }
  }
};

using Values = std::map<std::string, std::vector<double>>;

Values after_steps(const Case& c, int64_t steps) {
  Values whole;
  std::mutex mutex;
  run_local_ranks(
      c.layout.world(), Device::cpu(),
      [&](World& world) {
        Rank rank(c, world);
        const OptimConfig config = muon_config(c.clip);
        testing::ToyUpdater update(rank, config);
        for (int64_t step = 1; step <= steps; ++step) {
          rank.write_gradients([&](int32_t row, int64_t i) { return gradient_of(row, step, i); });
          const UpdateReport report = update({config.lr, step});
          EXPECT_FALSE(report.skipped);
          const bool is_clipped = report.clip_scale < 1.0;
          EXPECT_EQ(is_clipped, c.clip > 0.0);
        }
        const std::scoped_lock lock(mutex);
        rank.collect(whole);
      },
      {.delay = c.delay});
  return whole;
}

constexpr int64_t kSteps = 20;

// The owner has the whole direction and sums its squares as one rank does; all else goes element by
// element or is a product of the whole matrix.
TEST(SlicedMuon, IsOneRanksBitForBit) {
  for (const DType compute : {DType::F32, DType::F64, DType::BF16}) {
    const Values one = after_steps({.compute = compute}, kSteps);
    for (const Layout layout : {Layout{.dp_shard = 2}, Layout{.dp_shard = 3}, Layout{.dp_shard = 4},
                                Layout{.dp_shard = 5}, Layout{.dp_replicate = 2, .dp_shard = 2}})
      EXPECT_EQ(after_steps({.layout = layout, .compute = compute}, kSteps), one)
          << testing::layout_name(layout) << " " << name_of(compute);
  }
}

TEST(SlicedMuon, IsOneRanksWithMoreRanksThanMatrices) {
  const Values one = after_steps({.parameters = one_matrix()}, kSteps);
  for (const int ranks : {2, 3, 5, 7})
    EXPECT_EQ(after_steps({.parameters = one_matrix(), .layout = {.dp_shard = ranks}}, kSteps), one)
        << ranks << " ranks";
}

// Ranks add up their shares of the norm, in another order than one rank does.
TEST(SlicedMuon, UnderClippingIsOneRanksButForTheNormsRounding) {
  const Values one = after_steps({.compute = DType::F64, .clip = 0.5}, kSteps);
  for (const int ranks : {2, 3, 4, 5}) {
    const Values many =
        after_steps({.layout = {.dp_shard = ranks}, .compute = DType::F64, .clip = 0.5}, kSteps);
    ASSERT_EQ(many.size(), one.size());
    for (const auto& [name, values] : one)
      for (size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(many.at(name)[i], values[i], 1e-10) << name << " " << i;
  }
}

TEST(SlicedMuon, DelaysChangeNoBit) {
  Case c{.layout = {.dp_shard = 3}};
  const Values plain = after_steps(c, 3);
  for (const uint64_t seed : {1, 2, 3}) {
    c.delay = {.seed = seed, .most = std::chrono::microseconds(500)};
    EXPECT_EQ(after_steps(c, 3), plain);
  }
}

TEST(SlicedMuon, AGradientThatIsNotFiniteOnOneRankChangesNothing) {
  const Case c{.layout = {.dp_shard = 3}};
  run_local_ranks(3, Device::cpu(), [&](World& world) {
    Rank rank(c, world);
    Values before, after;
    rank.collect(before);
    testing::ToyUpdater update(rank, muon_config(0.0));
    rank.write_gradients([&](int32_t, int64_t) { return world.rank() == 1 ? 1e300 : 1.0; });
    EXPECT_TRUE(update({1e-3, 1}).skipped);
    rank.collect(after);
    EXPECT_EQ(after, before);
  });
}

// What makes the owner's norm one rank's, also of matrices that are measured in several runs.
TEST(SlicedMuon, SquaresOfAWholeDirectionAreThoseThatTheMomentumLeaves) {
  ThreadPool pool(2);
  Context ctx{.device = Device::cpu(), .pool = &pool, .workspace = {}};
  for (const int64_t n : {5, 4096, 10'000}) {
    std::vector<float> grad(static_cast<size_t>(n)), m(grad.size()), u(grad.size());
    for (int64_t i = 0; i < n; ++i)
      grad[static_cast<size_t>(i)] = static_cast<float>(gradient_of(0, n, i));
    const auto partials = static_cast<size_t>(muon_num_partials(n));
    std::vector<float> left(partials), again(partials);
    const auto flat = [](std::vector<float>& values) {
      return Tensor::contiguous(values.data(), DType::F32, {static_cast<int64_t>(values.size())});
    };
    UpdateValues values{};
    values[kGradScale] = 0.5;
    int64_t count = 1;
    const UpdateScalars scalars{Tensor::contiguous(values.data(), DType::F64, {kNumUpdateValues}),
                                Tensor::contiguous(&count, DType::I64, {1})};
    muon_momentum(ctx, 0.9, scalars, flat(grad), flat(m), flat(u), flat(left));
    muon_squares(ctx, flat(u), flat(again));
    EXPECT_EQ(again, left) << n << " elements";
  }
}

// States are the rank's part of the parameter's elements, no more.
TEST(SlicedMuon, KeepsOneMomentumOfEachElement) {
  const Case c{.layout = {.dp_shard = 4}};
  int64_t elements = 0, expected = 0;
  for (const TensorSpec& row : c.parameters.rows()) expected += row.shape.numel();
  std::mutex mutex;
  run_local_ranks(4, Device::cpu(), [&](World& world) {
    const Rank rank(c, world);
    const std::scoped_lock lock(mutex);
    for (const ParameterShard& shard : rank.store->shards()) {
      EXPECT_EQ(shard.states[0].numel(), shard.range.size());
      elements += shard.states[0].numel();
    }
  });
  EXPECT_EQ(elements, expected);
}

}  // namespace
}  // namespace ingot
