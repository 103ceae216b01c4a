#include "parallel/comm/local_ranks.h"

#include <numeric>

#include "core/error.h"

namespace ingot {
namespace {

std::vector<int> first_ranks(int count) {
  std::vector<int> ranks(static_cast<size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

LocalRanks::LocalRanks(int ranks) : hall_(first_ranks(ranks)), words_(static_cast<size_t>(ranks)) {}

std::shared_ptr<LocalGroup> LocalRanks::group(const std::string& name,
                                              const std::vector<int>& ranks) {
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<LocalGroup>& group = groups_[name];
  if (!group) {
    group = std::make_shared<LocalGroup>(ranks);
    for (const auto& [rank, why] : gone_) group->point().go(rank, why);
  }
  return group;
}

void LocalRanks::go(int rank, const std::string& why) {
  hall_.go(rank, why);
  const std::scoped_lock lock(mutex_);
  gone_.emplace_back(rank, why);
  for (const auto& [name, group] : groups_) group->point().go(rank, why);
}

std::vector<std::string> LocalRanks::gather(int rank, std::string_view what, std::string_view own,
                                            Patience patience) {
  words_[static_cast<size_t>(rank)] = {std::string(what), std::string(own)};
  hall_.arrive(rank, what, patience);
  std::vector<std::string> texts;
  size_t other = 0;  // the first that came for something else
  for (size_t i = 0; i < words_.size(); ++i) {
    texts.push_back(words_[i].text);
    if (other == 0 && words_[i].what != words_[0].what) other = i;
  }
  const std::string meetings[] = {words_[0].what, words_[other].what};
  hall_.part();
  check(other == 0, ErrorCode::Internal,
        "ranks meet for different things: rank 0 for «{}», rank {} for «{}»", meetings[0], other,
        meetings[1]);
  return texts;
}

}  // namespace ingot
