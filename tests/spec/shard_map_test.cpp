#include "spec/shard_map.h"

#include <gtest/gtest.h>

#include <random>

#include "spec/error_text.h"
#include "spec/llama_table.h"

namespace ingot {
namespace {

// Of every element: how many ranks hold it and how many save it.
void expect_held_and_saved(const TensorTable& parameters, const Layout& layout) {
  SCOPED_TRACE(testing::Message() << layout.dp_replicate << " × " << layout.dp_shard);
  std::vector<ShardMap> maps;
  for (int rank = 0; rank < layout.world(); ++rank)
    maps.push_back(shard_map(parameters, layout, rank));
  for (int32_t row = 0; row < static_cast<int32_t>(parameters.rows().size()); ++row) {
    const auto numel = static_cast<size_t>(parameters[{row}].shape.numel());
    std::vector<int> holders(numel), savers(numel);
    for (const ShardMap& map : maps) {
      const Slice& slice = map.of({row});
      ASSERT_EQ(slice.parameter, TensorId{row});
      ASSERT_LE(slice.range.begin, slice.saved.begin);
      ASSERT_LE(slice.saved.end, slice.range.end);
      for (int64_t i = slice.range.begin; i < slice.range.end; ++i)
        ++holders.at(static_cast<size_t>(i));
      for (int64_t i = slice.saved.begin; i < slice.saved.end; ++i)
        ++savers.at(static_cast<size_t>(i));
    }
    EXPECT_EQ(holders, std::vector<int>(numel, layout.dp_replicate)) << parameters[{row}].name;
    EXPECT_EQ(savers, std::vector<int>(numel, 1)) << parameters[{row}].name;
  }
}

TEST(ShardMap, EveryElementIsHeldByEachReplicaAndSavedOnce) {
  const TensorTable parameters = llama_parameters(model_preset("llama_test"));
  expect_held_and_saved(parameters, {});
  expect_held_and_saved(parameters, {.dp_replicate = 2, .dp_shard = 3});
  std::mt19937 random(5);
  for (int trial = 0; trial < 20; ++trial) {
    Layout layout;
    layout.dp_replicate = 1 + static_cast<int>(random() % 6);
    layout.dp_shard = 1 + static_cast<int>(random() % 40);  // more than a norm has elements
    expect_held_and_saved(parameters, layout);
  }
}

TEST(ShardMap, ReplicasShareTheSaving) {
  const TensorTable parameters = llama_parameters(model_preset("llama_test"));
  const TensorId embedding = parameters.find("embedding.weight");
  const int64_t numel = parameters[embedding].shape.numel();
  for (int rank = 0; rank < 4; ++rank) {
    const Slice slice = shard_map(parameters, {.dp_replicate = 4}, rank).of(embedding);
    EXPECT_EQ(slice.range, (ShardRange{0, numel}));
    EXPECT_EQ(slice.saved, shard_range(numel, 4, rank));
  }
}

TEST(ShardMap, AxesThatDoNotSplitWeightsAreRefused) {
  const TensorTable parameters = llama_parameters(model_preset("llama_test"));
  EXPECT_EQ(
      error_text([&] { shard_map(parameters, {.dp_shard = 2, .tp = 2}, 0); }, ErrorCode::Internal),
      "a shard map expected ranks along dp_replicate and dp_shard only, got pp 1, cp 1, tp "
      "2");
}

}  // namespace
}  // namespace ingot
