#include "train/hooks/weight_check.h"

#include <gtest/gtest.h>

#include <mutex>

#include "core/error/error.h"
#include "support/toy_store.h"
#include "support/train_fixture.h"

namespace ingot {
namespace {

using testing::ToyOptions;
using testing::ToyRank;

struct Verdict {
  std::vector<std::string> texts;  // what each rank threw
  int rank = -1;
};

// `spoil` may change a rank's shards before they are compared.
Verdict compare(const Layout& layout, DType compute,
                const std::function<void(int rank, ToyRank&)>& spoil) {
  Verdict verdict;
  std::mutex mutex;
  run_local_ranks(layout.world(), Device::cpu(), [&](World& world) {
    ToyRank rank(world, layout, ToyOptions{.compute = compute});
    init_weights(*rank.store, rank.parameters, 5);
    spoil(world.rank(), rank);
    try {
      check_weight_copies(world.control(), layout, rank.parameters, *rank.store, 40);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Numeric);
      const std::scoped_lock lock(mutex);
      verdict.texts.push_back(error.what());
      verdict.rank = error.rank();
    }
  });
  return verdict;
}

Layout layout_of(int replicas, int shards) {
  Layout layout;
  layout.dp_replicate = replicas, layout.dp_shard = shards;
  return layout;
}

const ParameterShard& shard_of(ToyRank& rank, const char* name) {
  for (const ParameterShard& shard : rank.store->shards())
    if (rank.parameters[shard.parameter].name == name) return shard;
  throw Error(ErrorCode::Internal, "no such parameter");
}

void flip_lowest_bit(const Tensor& tensor, int64_t element) {
  auto* bytes = static_cast<uint8_t*>(tensor.data) + element * size_of(tensor.dtype);
  bytes[0] ^= 1;
}

TEST(WeightCheck, EqualCopiesPass) {
  for (const Layout& layout :
       {layout_of(1, 1), layout_of(2, 1), layout_of(3, 1), layout_of(1, 3), layout_of(2, 2)})
    for (const DType compute : {DType::F32, DType::BF16})
      EXPECT_TRUE(compare(layout, compute, [](int, ToyRank&) {}).texts.empty());
}

TEST(WeightCheck, OneBitOfOneRankIsFoundAndNamedOnAllRanks) {
  for (const DType compute : {DType::F32, DType::BF16}) {
    const Verdict verdict = compare(layout_of(3, 1), compute, [](int rank, ToyRank& toy) {
      if (rank == 1) flip_lowest_bit(shard_of(toy, "layers.0.mlp.weight").weight, 17);
    });
    ASSERT_EQ(verdict.texts.size(), 3u);
    EXPECT_EQ(verdict.rank, 1);
    for (const std::string& text : verdict.texts)
      EXPECT_EQ(text.find("step 40: the copy of layers.0.mlp.weight on rank 1 differs from that on "
                          "ranks 0, 2: bad memory"),
                0u)
          << text;
  }
}

// The low halves of exact weights, which no product reads.
TEST(WeightCheck, MastersAreComparedToo) {
  const Verdict verdict = compare(layout_of(3, 1), DType::BF16, [](int rank, ToyRank& toy) {
    if (rank == 2) flip_lowest_bit(shard_of(toy, "head.weight").master, 34);
  });
  EXPECT_EQ(verdict.rank, 2);
}

TEST(WeightCheck, OfTwoCopiesBothAreNamed) {
  const Verdict verdict = compare(layout_of(2, 1), DType::F32, [](int rank, ToyRank& toy) {
    if (rank == 1) flip_lowest_bit(shard_of(toy, "final_norm.weight").weight, 0);
  });
  ASSERT_EQ(verdict.texts.size(), 2u);
  EXPECT_EQ(verdict.texts[0].find("step 40: the copies of final_norm.weight on ranks 0, 1 differ"),
            0u)
      << verdict.texts[0];
}

TEST(WeightCheck, ShardsAreComparedWithTheirCopiesOnly) {
  const Layout layout = layout_of(3, 2);
  const int spoiled = layout.rank_at({.dp_replicate = 2, .dp_shard = 1});
  const Verdict verdict = compare(layout, DType::F32, [&](int rank, ToyRank& toy) {
    if (rank == spoiled) flip_lowest_bit(shard_of(toy, "embedding.weight").weight, 1);
  });
  EXPECT_EQ(verdict.texts.size(), 6u);
  EXPECT_EQ(verdict.rank, spoiled);
}

TEST(WeightCheck, IsDueEverySoManySteps) {
  const WeightCheckTask often(100), never(0);
  EXPECT_TRUE(often.due({.step = 300}));
  EXPECT_FALSE(often.due({.step = 301, .at_end = true}));
  EXPECT_FALSE(never.due({.step = 300}));
}

class WeightCheckRuns : public test::TrainFixture {};

TEST_F(WeightCheckRuns, RanksOfARunStayEqual) {
  for (const char* precision : {"fp32", "bf16"})
    for (const char* optimizer : {"adamw", "muon"}) {
      test::Recorder recorder;
      const auto result = test::run(config(std::string(precision) + optimizer, 6,
                                           {{"train.check_weights_every", "2"},
                                            {"train.precision", precision},
                                            {"optim.kind", optimizer},
                                            {"system.ranks", "2"},
                                            {"batch.micro_batch", "1"}}),
                                    recorder);
      EXPECT_EQ(result.state.step, 6);
    }
}

}  // namespace
}  // namespace ingot
