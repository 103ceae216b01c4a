#include "spec/rows/shard_map.h"

#include <gtest/gtest.h>

#include <random>

#include "spec/error_text.h"
#include "spec/model/transformer_parameters.h"
#include "spec/rows/block_layout.h"

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
  const TensorTable parameters = transformer_parameters(model_preset("llama_test"));
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

// So that a block is one collective, whatever it is made of, and what it is made of is aligned.
TEST(ShardMap, ARanksPartsOfABlockAreOneRangeOfIt) {
  const TensorTable parameters = transformer_parameters(model_preset("llama_test"));
  for (const int ranks : {1, 2, 3, 8, 40})
    for (const BlockLayout& block : block_layouts(parameters, ranks)) {
      EXPECT_EQ(block.shard_elements % kBlockAlignment, 0);
      EXPECT_LT(block.num_elements() - block.entries.back().begin - block.entries.back().numel,
                ranks * kBlockAlignment);
      for (const BlockLayout::Entry& entry : block.entries) {
        EXPECT_EQ(entry.begin % kBlockAlignment, 0) << parameters[entry.parameter].name;
        for (int rank = 0; rank < ranks; ++rank) {
          const ShardRange own = block.shard(rank);
          const ShardRange part =
              shard_map(parameters, {.dp_shard = ranks}, rank).of(entry.parameter).range;
          if (part.size() == 0) continue;
          EXPECT_GE(entry.begin + part.begin, own.begin);
          EXPECT_LE(entry.begin + part.end, own.end);
          EXPECT_EQ((entry.begin + part.begin) % kBlockAlignment, 0);
        }
      }
    }
}

TEST(ShardMap, PackedPartsOfAllParametersAreTheShard) {
  const TensorTable parameters = transformer_parameters(model_preset("llama_test"));
  constexpr int kRanks = 3;
  for (const BlockLayout& block : block_layouts(parameters, kRanks)) {
    std::vector<TensorId> all;
    for (const BlockLayout::Entry& entry : block.entries) all.push_back(entry.parameter);
    for (int rank = 0; rank < kRanks; ++rank) {
      const PackedParts packed = packed_parts(block, all, rank);
      EXPECT_LE(packed.num_elements, block.shard_elements);
      for (size_t i = 0; i < all.size(); ++i) {
        const ShardRange part = block.part(block.entries[i], rank);
        if (part.size() == 0) continue;
        EXPECT_EQ(packed.begins[i], block.entries[i].begin + part.begin - block.shard(rank).begin);
      }
    }
  }
}

TEST(ShardMap, ReplicasShareTheSaving) {
  const TensorTable parameters = transformer_parameters(model_preset("llama_test"));
  const TensorId embedding = parameters.find("embedding.weight");
  const int64_t numel = parameters[embedding].shape.numel();
  for (int rank = 0; rank < 4; ++rank) {
    const Slice slice = shard_map(parameters, {.dp_replicate = 4}, rank).of(embedding);
    EXPECT_EQ(slice.range, (ShardRange{0, numel}));
    EXPECT_EQ(slice.saved, shard_range(numel, 4, rank));
  }
}

TEST(ShardMap, AxesThatDoNotSplitWeightsAreRefused) {
  const TensorTable parameters = transformer_parameters(model_preset("llama_test"));
  EXPECT_EQ(
      error_text([&] { shard_map(parameters, {.dp_shard = 2, .tp = 2}, 0); }, ErrorCode::Internal),
      "a shard map expected ranks along dp_replicate and dp_shard only, got pp 1, cp 1, tp "
      "2");
}

}  // namespace
}  // namespace ingot
