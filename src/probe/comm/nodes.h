// Which ranks share a machine.
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
  std::string name;        // its host; where several have one name, "web", "web #2"
  std::vector<int> ranks;  // increasing
};

// By rank. Machines whose names are equal are told apart by local ranks: a second one that counts
// from 0 is another machine. In the order of their first ranks.
std::vector<RankNode> nodes_of(std::span<const RankHost> places);

// For each rank the number of its node.
std::vector<int> node_numbers(std::span<const RankNode> nodes);

// The first rank of each node, increasing.
std::vector<int> leaders_of(std::span<const RankNode> nodes);

// Every pair of n ranks once, in as few rounds as there can be: a rank is in one pair of a round at
// most. Of a pair the lower rank is first.
using RankPair = std::pair<int, int>;
std::vector<std::vector<RankPair>> tournament_rounds(int n);

}  // namespace ingot
