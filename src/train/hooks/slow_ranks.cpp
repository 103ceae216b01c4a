#include "train/hooks/slow_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error/log.h"
#include "core/system/timing.h"

namespace ingot {
namespace {

constexpr double kWorthNaming = 0.1;  // of a step
// A rank that was named stays so down to here: one at the edge is not named again and again.
constexpr double kStillSlow = 1.15;

}  // namespace

std::optional<SlowRank> SlowRanks::after_step(std::span<const RankTime> ranks) {
  if (ranks.size() < 2) return std::nullopt;
  own_.resize(ranks.size(), std::vector<double>(kSlowWindow));
  steps_.resize(kSlowWindow);
  const auto at = static_cast<size_t>(num_steps_++ % kSlowWindow);
  steps_[at] = 0.0;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    own_[rank][at] = ranks[rank].seconds - ranks[rank].waits;
    steps_[at] = std::max(steps_[at], ranks[rank].seconds);
  }
  if (num_steps_ < kSlowWindow) return std::nullopt;

  const std::optional<SlowRank> found = find();
  const int64_t was = slow_ ? slow_->rank : -1, is = found ? found->rank : -1;
  if (is >= 0 && is != was)
    log::warn("slow_rank", {{"rank", std::to_string(is)},
                            {"host", found->host.value_or("this machine")},
                            {"factor", fmt::format("{:.2f}", found->factor)}});
  if (is < 0 && was >= 0) log::info("slow_rank_over", {{"rank", std::to_string(was)}});
  return slow_ = found;
}

std::optional<SlowRank> SlowRanks::find() const {
  std::vector<double> own;  // by rank
  for (const std::vector<double>& times : own_) own.push_back(median_of(times));
  const auto slowest = std::ranges::max_element(own) - own.begin();
  const double most = own[static_cast<size_t>(slowest)];
  own.erase(own.begin() + slowest);
  const double others = median_of(own);
  const bool named = slow_ && slow_->rank == slowest;
  const bool worth = most - others > kWorthNaming * median_of(steps_);
  if (!worth || most <= (named ? kStillSlow : kSlowFactor) * others) return std::nullopt;
  const auto rank = static_cast<size_t>(slowest);
  SlowRank found{.rank = slowest, .factor = std::round(100 * most / std::max(others, 1e-9)) / 100};
  if (rank < hosts_.size() && !hosts_[rank].empty()) found.host = hosts_[rank];
  return found;
}

}  // namespace ingot
