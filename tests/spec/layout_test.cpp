#include "spec/layout/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "spec/error_text.h"

namespace ingot {
namespace {

constexpr Axis kAxes[] = {Axis::Pp, Axis::DpReplicate, Axis::DpShard, Axis::Cp, Axis::Tp};

TEST(Layout, EveryRankStandsAtACoordinateOfItsOwn) {
  const Layout layout{.pp = 2, .dp_replicate = 3, .dp_shard = 2, .cp = 2, .tp = 3};
  EXPECT_EQ(layout.world(), 72);
  EXPECT_EQ(layout.data_ranks(), 6);
  for (int rank = 0; rank < layout.world(); ++rank)
    EXPECT_EQ(layout.rank_at(layout.at(rank)), rank);
}

TEST(Layout, TpIsFastestAndPpSlowest) {
  const Layout layout{.pp = 2, .dp_replicate = 2, .dp_shard = 2, .cp = 2, .tp = 2};
  EXPECT_EQ(layout.at(1), (Coord{.tp = 1}));
  EXPECT_EQ(layout.at(2), (Coord{.cp = 1}));
  EXPECT_EQ(layout.at(4), (Coord{.dp_shard = 1}));
  EXPECT_EQ(layout.at(8), (Coord{.dp_replicate = 1}));
  EXPECT_EQ(layout.at(16), (Coord{.pp = 1}));
}

TEST(Layout, TheGroupsOfAnAxisPartTheRanks) {
  const Layout layout{.pp = 2, .dp_replicate = 2, .dp_shard = 3, .cp = 1, .tp = 2};
  for (const Axis axis : kAxes) {
    std::multiset<int> members;
    for (int rank = 0; rank < layout.world(); ++rank) {
      const std::vector<int> group = layout.group(axis, rank);
      EXPECT_EQ(static_cast<int>(group.size()), layout.size(axis));
      EXPECT_TRUE(std::is_sorted(group.begin(), group.end()));
      for (const int member : group) EXPECT_EQ(layout.group(axis, member), group);
      members.insert(group.begin(), group.end());
    }
    for (int rank = 0; rank < layout.world(); ++rank)
      EXPECT_EQ(static_cast<int>(members.count(rank)), layout.size(axis));
  }
  EXPECT_EQ(layout.group(Axis::DpShard, 3), (std::vector<int>{1, 3, 5}));
}

TEST(Layout, ARankOutsideIsRefused) {
  EXPECT_EQ(error_text([] { Layout{.dp_shard = 4}.at(4); }, ErrorCode::Internal),
            "expected a rank below 4, got 4");
}

TEST(Layout, TheModeChoosesTheAxis) {
  using enum DataParallel;
  EXPECT_EQ(data_layout(3, Replicated), (Layout{.dp_replicate = 3}));
  for (const DataParallel mode : {Zero1, Zero2, FullySharded})
    EXPECT_EQ(data_layout(3, mode), (Layout{.dp_shard = 3}));
}

TEST(Layout, SetsOfRanksThatShareAreReplicas) {
  using enum DataParallel;
  EXPECT_EQ(data_layout(8, FullySharded, 4), (Layout{.dp_replicate = 2, .dp_shard = 4}));
  EXPECT_EQ(data_layout(8, Zero1, 8), (Layout{.dp_shard = 8}));
  EXPECT_EQ(data_layout(8, FullySharded, 1), (Layout{.dp_replicate = 8}));
  EXPECT_EQ(error_text([] { data_layout(8, FullySharded, 3); }, ErrorCode::Config),
            "system.shard_ranks: expected a divisor of the 8 ranks, got 3");
}

}  // namespace
}  // namespace ingot
