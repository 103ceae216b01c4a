#include "spec/rows/block_use.h"

#include <gtest/gtest.h>

#include "spec/model/transformer_parameters.h"
#include "spec/rows/action.h"

namespace ingot {
namespace {

ModelConfig model(int64_t layers, bool tied) {
  ModelConfig c = model_preset("llama_test");
  c.layers = layers;
  c.tied = tied;
  return c;
}

using Lives = std::vector<Lifetime>;

TEST(BlockUse, AMicroStepUsesBlocksForwardAndBack) {
  const std::vector<BlockUse> uses = {{0, Pass::Forward, 0},
                                      {1, Pass::Forward, 1},
                                      {2, Pass::Forward, 2},
                                      {3, Pass::Loss, 3},
                                      {2, Pass::Backward, 4},
                                      {1, Pass::Backward, 5},
                                      {0, Pass::Backward, 6, /*reads_weights=*/false}};
  EXPECT_EQ(block_uses(model(2, false)), uses);
}

TEST(BlockUse, ATiedHeadUsesTheEmbeddingToo) {
  std::vector<BlockUse> uses = block_uses(model(2, false));
  uses.insert(uses.begin() + 3, {0, Pass::Loss, 3});
  EXPECT_EQ(block_uses(model(2, true)), uses);
}

TEST(BlockUse, AnEvaluationEndsWithTheLosses) {
  for (const bool tied : {false, true}) {
    const ModelConfig c = model(3, tied);
    const std::vector<BlockUse> all = block_uses(c), uses = evaluation_uses(c);
    ASSERT_EQ(uses.back().tick, ticks_of(c).loss());
    for (size_t i = 0; i < uses.size(); ++i) {
      EXPECT_EQ(uses[i].block, all[i].block);
      EXPECT_EQ(uses[i].tick, all[i].tick);
      EXPECT_FALSE(uses[i].writes_gradients());
    }
  }
}

TEST(BlockUse, TicksNeverGoBack) {
  const std::vector<BlockUse> uses = block_uses(model(7, true));
  for (size_t i = 1; i < uses.size(); ++i) EXPECT_LE(uses[i - 1].tick, uses[i].tick);
  EXPECT_EQ(uses.back().tick, ticks_of(model(7, true)).last());
}

TEST(BlockUse, GatheredWeightsLiveFromTheTickBeforeTheirUse) {
  const std::vector<BlockUse> order = block_uses(model(3, false));
  EXPECT_EQ(gathered_lives(order, 0), (Lives{{0, 0}}));          // nothing comes before
  EXPECT_EQ(gathered_lives(order, 1), (Lives{{0, 1}, {6, 7}}));  // layer 0
  EXPECT_EQ(gathered_lives(order, 2), (Lives{{1, 2}, {5, 6}}));
  EXPECT_EQ(gathered_lives(order, 3), (Lives{{2, 5}}));  // only the loss lies between: kept
  EXPECT_EQ(gathered_lives(order, 4), (Lives{{3, 4}}));
  EXPECT_EQ(gathered_lives(block_uses(model(3, true)), 0), (Lives{{0, 0}, {3, 4}}));
}

TEST(BlockUse, GatheredWeightsMayStayFromForwardToBackward) {
  const GatherRule kept{.whole = UnshardedWeights::ForwardToBackward};
  const std::vector<BlockUse> order = block_uses(model(3, true));
  EXPECT_EQ(gathered_lives(order, 0, kept), (Lives{{0, 4}}));  // to the tied head
  EXPECT_EQ(gathered_lives(order, 1, kept), (Lives{{0, 7}}));
  EXPECT_EQ(gathered_lives(order, 4, kept), (Lives{{3, 4}}));
}

TEST(BlockUse, TheNextMicroStepsFirstWeightsLiveAtTheEndOfThisOne) {
  const std::vector<BlockUse> order = block_uses(model(3, false));
  EXPECT_EQ(gathered_lives(order, 0, {.again = true}), (Lives{{0, 0}, {8, 8}}));
  EXPECT_EQ(gathered_lives(order, 1, {.again = true}), gathered_lives(order, 1));
  EXPECT_EQ(gathered_lives(order, 0, {.ahead = 2, .again = true}), (Lives{{0, 0}, {7, 8}}));
  EXPECT_EQ(gathered_lives(order, 1, {.ahead = 2, .again = true}), (Lives{{0, 1}, {5, 8}}));
}

TEST(BlockUse, WithoutOverlapNothingLivesBesideItsUse) {
  const std::vector<BlockUse> order = block_uses(model(3, false));
  EXPECT_EQ(gathered_lives(order, 2, {.ahead = 0, .again = true}), (Lives{{2, 2}, {6, 6}}));
  EXPECT_EQ(reduced_lives(order, 2, 0), (Lives{{6, 6}}));
}

TEST(BlockUse, UnshardedGradientsLiveThroughTheTickAfterTheirUse) {
  EXPECT_EQ(reduced_lives(block_uses(model(3, false)), 0), (Lives{{8, 8}}));  // nothing follows
  EXPECT_EQ(reduced_lives(block_uses(model(3, true)), 0), (Lives{{4, 5}, {8, 8}}));
  EXPECT_EQ(reduced_lives(block_uses(model(3, false)), 1), (Lives{{7, 8}}));
  EXPECT_EQ(reduced_lives(block_uses(model(3, false)), 4), (Lives{{4, 5}}));
}

TEST(Action, OneRankRunsEachMicroBatchForwardThenBackward) {
  const std::vector<Action> actions = {{Action::Forward, 0, 0},
                                       {Action::Backward, 0, 0},
                                       {Action::Forward, 0, 0},
                                       {Action::Backward, 0, 0}};
  EXPECT_EQ(one_rank_actions(2), actions);
  EXPECT_TRUE(one_rank_actions(0).empty());
}

}  // namespace
}  // namespace ingot
