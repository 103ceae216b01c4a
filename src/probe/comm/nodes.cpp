#include "probe/comm/nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace ingot {

std::vector<RankNode> nodes_of(std::span<const RankHost> places) {
  std::vector<RankNode> nodes;
  std::map<std::pair<std::string, int>, int> taken;         // local ranks seen, by host
  std::map<std::pair<std::string, int>, size_t> number_of;  // host and how many-th of its name
  for (size_t rank = 0; rank < places.size(); ++rank) {
    const RankHost& place = places[rank];
    const int which = taken[{place.host, place.local_rank}]++;
    const auto [found, is_new] = number_of.try_emplace({place.host, which}, nodes.size());
    if (is_new)
      nodes.push_back({which == 0 ? place.host : fmt::format("{} #{}", place.host, which + 1), {}});
    nodes[found->second].ranks.push_back(static_cast<int>(rank));
  }
  return nodes;
}

std::vector<int> node_numbers(std::span<const RankNode> nodes) {
  std::vector<int> numbers;
  for (size_t node = 0; node < nodes.size(); ++node)
    for (const int rank : nodes[node].ranks) {
      numbers.resize(std::max(numbers.size(), static_cast<size_t>(rank) + 1));
      numbers[static_cast<size_t>(rank)] = static_cast<int>(node);
    }
  return numbers;
}

std::vector<int> leaders_of(std::span<const RankNode> nodes) {
  std::vector<int> leaders;
  for (const RankNode& node : nodes) leaders.push_back(node.ranks.front());
  std::sort(leaders.begin(), leaders.end());
  return leaders;
}

std::vector<std::vector<RankPair>> tournament_rounds(int n) {
  // The circle method: rank `last` stays, the others go round it. Where n is odd `last` is nobody
  // and whoever meets it rests.
  std::vector<std::vector<RankPair>> rounds;
  const int last = n % 2 == 0 ? n - 1 : n;
  for (int round = 0; round < last; ++round) {
    std::vector<RankPair> pairs;
    const auto add = [&](int a, int b) {
      if (a < n && b < n) pairs.emplace_back(std::min(a, b), std::max(a, b));
    };
    add(last, round);
    for (int i = 1; i <= (last - 1) / 2; ++i) add((round + i) % last, (round - i + last) % last);
    if (!pairs.empty()) rounds.push_back(std::move(pairs));
  }
  return rounds;
}

}  // namespace ingot
