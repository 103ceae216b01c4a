#include "parallel/comm/local/local_ranks.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "core/error/error.h"
#include "core/error/log.h"

namespace ingot {
namespace {

std::vector<int> first_ranks(int count) {
  std::vector<int> ranks(static_cast<size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

LocalRanks::LocalRanks(int ranks, const Deadlines& deadlines)
    : deadlines_(deadlines),
      hall_(first_ranks(ranks)),
      everyone_(text_of_ranks(first_ranks(ranks))),
      places_(static_cast<size_t>(ranks)) {}

std::shared_ptr<LocalGroup> LocalRanks::group(const std::string& name,
                                              const std::vector<int>& ranks) {
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<LocalGroup>& group = groups_[name];
  if (!group) {
    group = std::make_shared<LocalGroup>(*this, ranks);
    for (const Leaving& one : gone_) group->point().go(one.rank, one.cause);
  }
  return group;
}

void LocalRanks::leave(int rank) {
  const std::scoped_lock lock(mutex_);
  go(rank, {rank, "it returned while other ranks wait for it"});
}

void LocalRanks::lose(int rank, const LostRank& cause) {
  const std::scoped_lock lock(mutex_);
  // The cause as it was first told: each rank that is released puts its own call before it.
  const auto first =
      std::ranges::find_if(gone_, [&](const Leaving& one) { return one.cause.rank == cause.rank; });
  const LostRank told = first == gone_.end() ? cause : first->cause;
  if (!loss_) loss_ = told;
  go(rank, told);
}

void LocalRanks::go(int rank, const LostRank& cause) {
  gone_.push_back({rank, cause});
  hall_.go(rank, cause);
  for (const auto& [name, group] : groups_) group->point().go(rank, cause);
  changed_.notify_all();
}

void LocalRanks::post(const std::string& key, const std::string& value) {
  const std::scoped_lock lock(mutex_);
  posted_.emplace(key, value);
  changed_.notify_all();
}

std::string LocalRanks::await(const std::string& key, Timeout timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return posted_.contains(key) || loss_; });
  const auto found = posted_.find(key);
  if (found != posted_.end()) return found->second;
  if (loss_) throw lost_error(*loss_).during(fmt::format("waits for «{}»", key));
  throw Error(ErrorCode::Comm,
              fmt::format("the board: waited {:.1f} s for «{}», which no rank posted",
                          std::chrono::duration<double>(timeout).count(), key));
}

std::optional<LostRank> LocalRanks::loss() {
  const std::scoped_lock lock(mutex_);
  return loss_;
}

void LocalRanks::arrive(RankBarrier& point, int member, const std::string& what, Timeout timeout) {
  const int rank = point.rank_of(member);
  try {
    const std::vector<int> missing = point.arrive(member, timeout);
    if (missing.empty()) return;
    const std::scoped_lock lock(mutex_);
    // Whoever gave up first has said where the missing rank was: by now it is released.
    const auto first = std::ranges::find(gone_, missing.front(), &Leaving::rank);
    if (first != gone_.end()) throw lost_error(first->cause);
    std::vector<MissingRank> states;
    for (const int other : missing) states.push_back({other, watch(other).state()});
    const Error error = waited_for(timeout, states);
    is_late_ = true;
    go(missing.front(), {missing.front(), fmt::format("rank {} in {} at step {}: {}", rank, what,
                                                      watch(rank).step(), error.what())});
    throw error;
  } catch (const Error& error) {
    tell_records(rank, error);
    throw;
  }
}

void LocalRanks::tell_records(int rank, const Error& why) {
  {
    const std::scoped_lock lock(mutex_);
    if (!is_late_) return;
  }
  Place& place = places_[static_cast<size_t>(rank)];
  std::call_once(place.told, [&] {
    log::error("rank_late",
               {{"rank", std::to_string(rank)},
                {"why", why.what()},
                {"last", fmt::format("{}", fmt::join(place.watch.last_records(), "; "))}});
  });
}

std::vector<std::string> LocalRanks::gather(int rank, std::string_view what, std::string_view own,
                                            Timeout timeout) {
  Place& place = places_[static_cast<size_t>(rank)];
  place.what = what, place.text = own;
  const std::string name = fmt::format("{} #{} among {}", what, ++place.num_rounds, everyone_);
  const Watched watched(place.watch, name);
  try {
    arrive(hall_, rank, name, timeout);
  } catch (const Error& error) {
    throw error.during(fmt::format("{} at step {}", name, place.watch.step()));
  }
  std::vector<std::string> texts;
  size_t other = 0;  // the first that came for something else
  for (size_t i = 0; i < places_.size(); ++i) {
    texts.push_back(places_[i].text);
    if (other == 0 && places_[i].what != places_[0].what) other = i;
  }
  const std::string rounds[] = {places_[0].what, places_[other].what};
  hall_.part();
  check(other == 0, ErrorCode::Internal,
        "ranks meet for different things: rank 0 for «{}», rank {} for «{}»", rounds[0], other,
        rounds[1]);
  return texts;
}

}  // namespace ingot
