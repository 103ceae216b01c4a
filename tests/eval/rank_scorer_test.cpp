#include "eval/rank_scorer.h"

#include <gtest/gtest.h>

#include <atomic>

#include "parallel/comm/world.h"

namespace ingot {
namespace {

// Every id is as likely as itself says, and a text goes on with its last id.
class Spelled final : public Scorer {
 public:
  void score(std::span<const ScoreItem> items, const OnItem& on_item) override {
    for (size_t i = 0; i < items.size(); ++i) {
      Scores scores;
      for (const auto& [ids, first_scored] : items[i].sequences) {
        scores.emplace_back();
        for (size_t t = first_scored; t < ids.size(); ++t)
          scores.back().push_back({.logprob = -0.1 * ids[t], .is_likeliest = ids[t] % 2 == 0});
      }
      on_item(i, scores);
    }
    scored += items.size();
  }
  std::vector<int32_t> continue_greedily(std::span<const int32_t> ids, int64_t max_new,
                                         const IsDone&) override {
    ++continued;
    return std::vector<int32_t>(static_cast<size_t>(max_new), ids.back());
  }
  int64_t max_tokens() const override { return 64; }
  size_t scored = 0, continued = 0;
};

std::vector<ScoreItem> items() {
  std::vector<ScoreItem> all;
  for (int32_t i = 0; i < 150; ++i)
    all.push_back({{{.ids = {1, i, i + 1}, .first_scored = 1},
                    {.ids = {1}, .first_scored = 1},
                    {.ids = {i, 7}, .first_scored = 1}}});
  return all;
}

TEST(RankScorer, RanksShareTheItemsAndAllKnowEveryScore) {
  Spelled alone;
  std::vector<Scorer::Scores> expected;
  alone.score(items(), [&](size_t, const Scorer::Scores& scores) { expected.push_back(scores); });
  for (const int ranks : {1, 2, 3}) {
    std::vector<Spelled> own(static_cast<size_t>(ranks));
    run_local_ranks(ranks, Device::cpu(), [&](World& world) {
      RankScorer scorer(own[static_cast<size_t>(world.rank())], world.control(), kDefaultTimeout,
                        [] { return false; });
      size_t next = 0;
      scorer.score(items(), [&](size_t index, const Scorer::Scores& scores) {
        EXPECT_EQ(index, next++);
        ASSERT_EQ(scores.size(), expected[index].size());
        for (size_t s = 0; s < scores.size(); ++s) {
          ASSERT_EQ(scores[s].size(), expected[index][s].size());
          for (size_t t = 0; t < scores[s].size(); ++t) {
            EXPECT_EQ(scores[s][t].logprob, expected[index][s][t].logprob);
            EXPECT_EQ(scores[s][t].is_likeliest, expected[index][s][t].is_likeliest);
          }
        }
      });
      EXPECT_EQ(next, 150u);
      for (int32_t id : {5, 6, 9, 4, 2, 8})
        EXPECT_EQ(scorer.continue_greedily(std::vector{id}, 2, {}), (std::vector{id, id}));
    });
    for (const Spelled& rank : own) {
      EXPECT_NEAR(static_cast<double>(rank.scored), 150.0 / ranks, 3);
      EXPECT_EQ(rank.continued, 6u / static_cast<size_t>(ranks));
    }
  }
}

TEST(RankScorer, AStopOnOneRankEndsTheScoringOnAll) {
  std::atomic<int> stopped = 0;
  run_local_ranks(2, Device::cpu(), [&](World& world) {
    Spelled own;
    RankScorer scorer(own, world.control(), kDefaultTimeout, [&] { return world.rank() == 1; });
    try {
      scorer.score(items(), [](size_t, const Scorer::Scores&) {});
    } catch (const RankScorer::Stopped&) {
      ++stopped;
    }
  });
  EXPECT_EQ(stopped, 2);
}

}  // namespace
}  // namespace ingot
