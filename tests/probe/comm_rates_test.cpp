// Collectives, links and the order in which links are measured.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "core/device/thread_pool.h"
#include "probe/comm/collective_rate.h"
#include "probe/comm/link_rate.h"
#include "probe/comm/nodes.h"

namespace ingot {
namespace {

using Kind = ProbedCollective;

TEST(BusFactor, IsWhatALinkCarriesForAByteOfTheTensor) {
  EXPECT_DOUBLE_EQ(bus_factor(Kind::AllReduce, 16), 1.875);
  for (const Kind kind : {Kind::AllGather, Kind::ReduceScatter, Kind::AllToAll})
    EXPECT_DOUBLE_EQ(bus_factor(kind, 16), 0.9375);
  EXPECT_DOUBLE_EQ(bus_factor(Kind::AllReduce, 2), 1.0);
  EXPECT_DOUBLE_EQ(bus_factor(Kind::AllGather, 2), 0.5);
  EXPECT_DOUBLE_EQ(bus_factor(Kind::AllReduce, 1), 0.0);
}

TEST(BusFactor, TurnsATimeIntoRates) {
  const CollectiveRate rate{Kind::AllReduce, "world", 16, 1'000'000, 0.001};
  EXPECT_DOUBLE_EQ(rate.algorithm_bytes_s(), 1e9);
  EXPECT_DOUBLE_EQ(rate.bus_bytes_s(), 1.875e9);
  EXPECT_EQ(to_json(rate).at("kind"), "all_reduce");
}

TEST(Tournament, MeetsEveryPairOnceInAsFewRoundsAsCanBe) {
  for (int n = 0; n <= 33; ++n) {
    std::set<RankPair> met;
    const auto rounds = tournament_rounds(n);
    EXPECT_EQ(static_cast<int>(rounds.size()), n < 2 ? 0 : n % 2 == 0 ? n - 1 : n) << n;
    for (const auto& round : rounds) {
      std::set<int> busy;
      for (const auto& [low, high] : round) {
        EXPECT_LT(low, high);
        EXPECT_GE(low, 0);
        EXPECT_LT(high, n);
        EXPECT_TRUE(busy.insert(low).second && busy.insert(high).second) << n;
        EXPECT_TRUE(met.emplace(low, high).second) << n;
      }
    }
    EXPECT_EQ(static_cast<int>(met.size()), n * (n - 1) / 2);
  }
}

std::vector<std::vector<int>> ranks_by_node(const std::vector<RankHost>& places) {
  std::vector<std::vector<int>> ranks;
  for (const RankNode& node : nodes_of(places)) ranks.push_back(node.ranks);
  return ranks;
}

TEST(Nodes, AreRanksOfOneHost) {
  const std::vector<RankHost> places = {{"a", 0}, {"a", 1}, {"b", 0}, {"b", 1}, {"a", 2}};
  EXPECT_EQ(ranks_by_node(places), (std::vector<std::vector<int>>{{0, 1, 4}, {2, 3}}));
  const auto nodes = nodes_of(places);
  EXPECT_EQ(leaders_of(nodes), (std::vector<int>{0, 2}));
  EXPECT_EQ(node_numbers(nodes), (std::vector<int>{0, 0, 1, 1, 0}));
}

TEST(Nodes, OfOneNameAreToldApartByLocalRanks) {
  const std::vector<RankHost> places = {{"web", 0}, {"web", 1}, {"web", 0}, {"web", 1}};
  EXPECT_EQ(ranks_by_node(places), (std::vector<std::vector<int>>{{0, 1}, {2, 3}}));
  EXPECT_EQ(nodes_of(places)[1].name, "web #2");
}

struct Rank {
  Rank() : pool(1) { ctx.pool = &pool; }
  ThreadPool pool;
  Context ctx;
};

TEST(MeasureCollectives, GivesEveryRankTheSameFiguresOfItsGroups) {
  // Four ranks as two machines of two: the leaders are 0 and 2.
  std::vector<std::vector<CollectiveRate>> of_nodes(4), of_leaders(4);
  run_local_ranks(4, Device::cpu(), [&](World& world) {
    Rank rank;
    const auto me = static_cast<size_t>(world.rank());
    const std::vector<CollectiveTask> tasks = collective_sweep(4096);
    const std::vector<int> node = me < 2 ? std::vector<int>{0, 1} : std::vector<int>{2, 3};
    const std::vector<int> leaders = me % 2 == 0 ? std::vector<int>{0, 2} : std::vector<int>{};
    of_nodes[me] = measure_collectives(world, rank.ctx, "node", node, tasks,
                                       {.seconds_each = 0.01, .leave_out_slow = false});
    of_leaders[me] = measure_collectives(world, rank.ctx, "leaders", leaders, tasks,
                                         {.seconds_each = 0.01, .leave_out_slow = false});
  });
  for (const auto* groups : {&of_nodes, &of_leaders})
    for (const auto& rates : *groups) {
      ASSERT_EQ(rates.size(), 8u);  // 1 and 4 KiB of four kinds
      for (size_t i = 0; i < rates.size(); ++i) {
        EXPECT_EQ(rates[i].ranks, 2);
        EXPECT_GT(rates[i].seconds, 0.0);
        EXPECT_EQ(rates[i].bytes, i % 2 == 0 ? 1024 : 4096);
        EXPECT_DOUBLE_EQ(rates[i].seconds, groups->front()[i].seconds);
      }
    }
}

TEST(MeasureCollectives, LeavesOutWhatWouldTakeTooLong) {
  std::vector<CollectiveRate> rates;
  run_local_ranks(2, Device::cpu(), [&](World& world) {
    Rank rank;
    const std::vector<int> both = {0, 1};
    const std::vector<CollectiveTask> tasks = {{Kind::AllReduce, 1024}, {Kind::AllReduce, 4096}};
    auto own = measure_collectives(world, rank.ctx, "world", both, tasks, {.seconds_each = 1e-12});
    if (world.rank() == 0) rates = std::move(own);
  });
  ASSERT_EQ(rates.size(), 1u);
  EXPECT_EQ(rates.front().bytes, 1024);
}

class MeasureLinks : public ::testing::TestWithParam<int> {};  // ranks that are measured alone

TEST_P(MeasureLinks, CoversEachPairOnceInEachDirection) {
  constexpr int kRanks = 5;
  std::vector<std::vector<LinkRate>> all(kRanks);
  run_local_ranks(kRanks, Device::cpu(), [&](World& world) {
    Rank rank;
    all[static_cast<size_t>(world.rank())] = measure_links(
        world, rank.ctx, {.most_bytes = 1 << 18, .seconds = 0.2, .most_alone = GetParam()});
  });
  std::set<std::pair<int, int>> met;
  for (const LinkRate& link : all.front()) {
    EXPECT_NE(link.from, link.to);
    EXPECT_GT(link.bytes_s, 0.0);
    EXPECT_GT(link.latency_seconds, 0.0);
    EXPECT_GE(link.bytes, 1 << 16);
    EXPECT_LE(link.bytes, 1 << 18);
    EXPECT_TRUE(met.emplace(link.from, link.to).second);
  }
  EXPECT_EQ(met.size(), size_t{kRanks * (kRanks - 1)});
  for (const auto& own : all) ASSERT_EQ(own.size(), all.front().size());
}

INSTANTIATE_TEST_SUITE_P(OneAfterAnotherAndInRounds, MeasureLinks, ::testing::Values(16, 2));

}  // namespace
}  // namespace ingot
