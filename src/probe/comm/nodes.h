// Groups ranks by machine.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace ingot {

struct RankHost {
  std::string host;
  int local_rank = 0;
};

struct RankNode {
  std::string name;        // host name; with several equal names "web", "web #2"
  std::vector<int> ranks;  // increasing
};

// By rank. Machines with equal names are distinguished by local ranks: a second local rank 0 is
// another machine. Ordered by their first ranks.
std::vector<RankNode> nodes_of(std::span<const RankHost> places);

// The node index of each rank.
std::vector<int> node_numbers(std::span<const RankNode> nodes);

// The first rank of each node, increasing.
std::vector<int> leaders_of(std::span<const RankNode> nodes);

// Every pair of n ranks once, in the fewest rounds: a rank is in at most one pair per round. The
// lower rank of a pair is first.
using RankPair = std::pair<int, int>;
std::vector<std::vector<RankPair>> tournament_rounds(int n);

}  // namespace ingot
