#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "core/arena.h"
#include "spec/error_text.h"
#include "spec/llama_table.h"
#include "spec/tensor_table.h"

namespace ingot {
namespace {

bool touch(const Lifetime& a, const Lifetime& b) {
  for (int tick = std::max(a.first, b.first); tick <= std::min(a.last, b.last); ++tick)
    if (a.at(tick) && b.at(tick)) return true;
  return false;
}

bool is_packed(const TensorSpec& row) {
  return !row.life.whole_run();
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
    EXPECT_LE(plan.offset[i] + rows[i].bytes(), plan.total_bytes) << rows[i].name;
    for (size_t j = 0; j < i; ++j) {
      const bool may_share =
          is_packed(rows[i]) && is_packed(rows[j]) && !touch(rows[i].life, rows[j].life);
      const bool apart = plan.offset[i] + rows[i].bytes() <= plan.offset[j] ||
                         plan.offset[j] + rows[j].bytes() <= plan.offset[i];
      EXPECT_TRUE(may_share || apart) << rows[i].name << " overlaps " << rows[j].name;
    }
  }
  EXPECT_LE(plan.total_bytes, sum);
  const int64_t categories =
      std::accumulate(plan.categories.begin(), plan.categories.end(), int64_t{0},
                      [](int64_t total, const auto& c) { return total + c.bytes; });
  EXPECT_EQ(categories, plan.total_bytes);
}

// No plan can be smaller: what lasts, plus what lives at the fullest tick.
int64_t least_bytes(const TensorTable& table) {
  int64_t lasting = 0, peak = 0;
  int last = 0;
  for (const TensorSpec& row : table.rows()) {
    if (!is_packed(row)) lasting += align_up(row.bytes());
    last = std::max(last, row.life.last < Lifetime::kForever ? row.life.last : row.life.first);
  }
  for (int tick = 0; tick <= last; ++tick) {
    int64_t live = 0;
    for (const TensorSpec& row : table.rows())
      if (is_packed(row) && touch(row.life, {tick, tick})) live += align_up(row.bytes());
    peak = std::max(peak, live);
  }
  return lasting + peak;
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
      const int a = draw(num_ticks), b = draw(num_ticks);
      if (draw(4) != 0) spec.life = {std::min(a, b), std::max(a, b)};
      if (draw(4) == 0) spec.life.last = Lifetime::kForever;
      if (draw(2) == 0) spec.life.gap = draw(num_ticks);
      table.add(std::move(spec));
    }
    const MemoryPlan plan = plan_memory(table);
    expect_sound(table, plan);
    EXPECT_GE(plan.total_bytes, least_bytes(table));
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
    const TensorTable table = llama_train_table(c, shape);
    const MemoryPlan plan = plan_memory(table);
    expect_sound(table, plan);
    EXPECT_EQ(plan.total_bytes, least_bytes(table));
  }
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
