#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "core/device/arena.h"
#include "spec/error_text.h"
#include "spec/rows/transformer_table.h"
#include "spec/table/tensor_table.h"
#include "support/lives_at.h"

namespace ingot {
namespace {

constexpr int kTicks = 60;  // more than any table here has; what lives then lives forever

bool touch(const TensorSpec& a, const TensorSpec& b) {
  for (int tick = 0; tick <= kTicks; ++tick)
    if (test::lives_at(a, tick) && test::lives_at(b, tick)) return true;
  return false;
}

bool is_packed(const TensorSpec& row) {
  return !row.whole_run();
}

int64_t total_of(const MemoryPlan& plan, MemorySpace space) {
  if (space == MemorySpace::Pinned) return plan.pinned_bytes;
  return space == MemorySpace::Host ? plan.host_bytes : plan.total_bytes;
}

// No two rows that live at once share a byte, all are aligned and inside, and the parts add up.
void expect_sound(const TensorTable& table, const MemoryPlan& plan) {
  const std::vector<TensorSpec>& rows = table.rows();
  ASSERT_EQ(plan.offset.size(), rows.size());
  int64_t sum = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    sum += align_up(rows[i].bytes());
    EXPECT_EQ(plan.offset[i] % kArenaAlignment, 0) << rows[i].name;
    EXPECT_GE(plan.offset[i], 0);
    EXPECT_LE(plan.offset[i] + rows[i].bytes(), total_of(plan, rows[i].space)) << rows[i].name;
    for (size_t j = 0; j < i; ++j) {
      if (rows[i].space != rows[j].space) continue;
      const bool may_share = is_packed(rows[i]) && is_packed(rows[j]) && !touch(rows[i], rows[j]);
      const bool apart = plan.offset[i] + rows[i].bytes() <= plan.offset[j] ||
                         plan.offset[j] + rows[j].bytes() <= plan.offset[i];
      EXPECT_TRUE(may_share || apart) << rows[i].name << " overlaps " << rows[j].name;
    }
  }
  EXPECT_LE(plan.total_bytes + plan.pinned_bytes + plan.host_bytes, sum);
  const int64_t categories =
      std::accumulate(plan.categories.begin(), plan.categories.end(), int64_t{0},
                      [](int64_t total, const auto& c) { return total + c.bytes; });
  EXPECT_EQ(categories, plan.total_bytes);
}

// No plan can be smaller: what lasts, plus what lives at the fullest tick.
int64_t least_bytes(const TensorTable& table, MemorySpace space = MemorySpace::Device) {
  int64_t peak = 0;
  for (int tick = 0; tick <= kTicks; ++tick) {
    int64_t live = 0;
    for (const TensorSpec& row : table.rows())
      if (row.space == space && test::lives_at(row, tick)) live += align_up(row.bytes());
    peak = std::max(peak, live);
  }
  return peak;
}

TEST(MemoryPlan, RowsThatLiveAtOnceNeverOverlap) {
  std::mt19937 random(7);
  auto draw = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  for (int trial = 0; trial < 200; ++trial) {
    TensorTable table;
    const int num_rows = 1 + draw(60), num_ticks = 1 + draw(20);
    for (int i = 0; i < num_rows; ++i) {
      TensorSpec spec;
      spec.name = std::to_string(i);
      spec.shape = {draw(5) == 0 ? 0 : draw(3000)};
      spec.dtype = draw(2) == 0 ? DType::F32 : DType::U8;
      if (draw(4) == 0) spec.space = draw(2) == 0 ? MemorySpace::Pinned : MemorySpace::Host;
      if (draw(4) != 0) {
        spec.lives.clear();
        for (int tick = draw(num_ticks); spec.lives.empty() || tick < num_ticks;
             tick += 1 + draw(num_ticks)) {
          const int first = tick;
          spec.lives.push_back({first, tick += draw(4)});
        }
        if (draw(4) == 0) spec.lives.back().last = Lifetime::kForever;
      }
      table.add(std::move(spec));
    }
    const MemoryPlan plan = plan_memory(table);
    expect_sound(table, plan);
    for (const MemorySpace space : {MemorySpace::Device, MemorySpace::Pinned, MemorySpace::Host})
      EXPECT_GE(total_of(plan, space), least_bytes(table, space));
    EXPECT_EQ(plan_memory(table).offset, plan.offset);
  }
}

TEST(MemoryPlan, TrainingTablesArePackedWithoutWaste) {
  for (const auto& [policy, keep_layers] :
       {std::pair{ActivationPolicy::None, 0}, std::pair{ActivationPolicy::Selective, 0},
        std::pair{ActivationPolicy::Selective, 5}, std::pair{ActivationPolicy::Full, 0},
        std::pair{ActivationPolicy::Full, 5}}) {
    ModelConfig c = model_preset("llama_1b");
    c.qk_norm = true;
    TrainShape shape;
    shape.B = 2;
    shape.T = 128;
    shape.compute = DType::BF16;
    shape.policy = policy;
    shape.keep_layers = keep_layers;
    shape.workspace_bytes = 1000;
    shape.head_workspace_bytes = 512 * c.vocab * 2;
    const TensorTable table = transformer_train_table(c, shape);
    const MemoryPlan plan = plan_memory(table);
    expect_sound(table, plan);
    EXPECT_EQ(plan.total_bytes, least_bytes(table));
  }
}

TEST(MemoryPlan, ARowLeavesItsMemoryToOthersBetweenItsLives) {
  const auto row = [](const char* name, std::vector<Lifetime> lives) {
    TensorSpec spec;
    spec.name = name;
    spec.shape = {1024};
    spec.lives = std::move(lives);
    return spec;
  };
  TensorTable table;
  table.add(row("twice", {{0, 1}, {4, 5}}));
  table.add(row("between", {{2, 3}}));
  EXPECT_EQ(plan_memory(table).total_bytes, 4096);
  table.add(row("across", {{3, 4}}));
  EXPECT_EQ(plan_memory(table).total_bytes, 2 * 4096);
}

TEST(MemoryPlan, SpacesAreCountedApart) {
  TensorTable table;
  for (const auto& [space, count] :
       {std::pair{MemorySpace::Device, 1000}, std::pair{MemorySpace::Pinned, 300},
        std::pair{MemorySpace::Host, 10}}) {
    TensorSpec spec;
    spec.name = std::to_string(count);
    spec.shape = {count};
    spec.dtype = DType::U8;
    spec.space = space;
    table.add(std::move(spec));
  }
  const MemoryPlan plan = plan_memory(table);
  EXPECT_EQ(plan.offset, std::vector<int64_t>(3, 0));
  EXPECT_EQ(plan.total_bytes, 1024);
  EXPECT_EQ(plan.pinned_bytes, 512);
  EXPECT_EQ(plan.host_bytes, 256);
}

TEST(MemoryPlan, AnEmptyTableTakesNothing) {
  const MemoryPlan plan = plan_memory(TensorTable{});
  EXPECT_EQ(plan.total_bytes, 0);
  EXPECT_TRUE(plan.categories.empty());
}

TEST(MemoryPlan, SizesBeyondAnyMachineAreRefusedNotWrapped) {
  TensorTable table;
  for (int i = 0; i < 4; ++i) {
    TensorSpec spec;
    spec.name = std::to_string(i);
    spec.shape = {int64_t{1} << 62};
    spec.dtype = DType::U8;
    table.add(std::move(spec));
  }
  EXPECT_EQ(error_text([&] { plan_memory(table); }, ErrorCode::Memory),
            "the tensors together are larger than any machine: lower the model, batch or context");
}

}  // namespace
}  // namespace ingot
