#include "parallel/comm/local/rank_barrier.h"

#include <algorithm>

#include "core/error/error.h"
#include "core/error/log.h"

namespace ingot {

bool RankBarrier::is_hopeless(size_t member) const {
  if (is_withdrawn_[member]) return true;
  if (gone_ < 0) return false;
  const auto gone = static_cast<size_t>(gone_);
  return gone == member || !is_here_[gone];
}

std::vector<int> RankBarrier::arrive(int member, Timeout timeout) {
  const auto own = static_cast<size_t>(member);
  std::unique_lock lock(mutex_);
  const int64_t round = rounds_;
  is_here_[own] = true;
  if (++num_here_ == size()) {
    std::fill(is_here_.begin(), is_here_.end(), false);
    num_here_ = 0;
    ++rounds_;
    changed_.notify_all();
    return {};
  }
  {
    const log::Wait wait("other ranks");
    changed_.wait_until(lock, std::chrono::steady_clock::now() + timeout,
                        [&] { return rounds_ != round || is_hopeless(own); });
  }
  if (rounds_ != round) return {};

  std::vector<int> missing;
  for (size_t i = 0; i < ranks_.size(); ++i)
    if (!is_here_[i]) missing.push_back(ranks_[i]);
  is_here_[own] = false;
  --num_here_;
  check(!is_withdrawn_[own], ErrorCode::Comm, "abandoned by this rank");
  if (gone_ == member)
    throw Error(ErrorCode::Comm, fmt::format("this rank came too late: {}", cause_.why))
        .on_rank(cause_.rank);
  if (gone_ >= 0) throw lost_error(cause_);
  if (missing_.empty()) missing_ = std::move(missing);
  return missing_;
}

void RankBarrier::part() {
  std::unique_lock lock(mutex_);
  const int64_t parting = partings_;
  if (++num_parted_ == size()) {
    num_parted_ = 0;
    ++partings_;
    changed_.notify_all();
    return;
  }
  changed_.wait(lock, [&] { return partings_ != parting; });
}

void RankBarrier::withdraw(int member) {
  const std::scoped_lock lock(mutex_);
  is_withdrawn_[static_cast<size_t>(member)] = true;
  changed_.notify_all();
}

void RankBarrier::go(int rank, const LostRank& cause) {
  const auto found = std::find(ranks_.begin(), ranks_.end(), rank);
  const std::scoped_lock lock(mutex_);
  if (found == ranks_.end() || gone_ >= 0) return;
  gone_ = static_cast<int>(found - ranks_.begin());
  cause_ = cause;
  changed_.notify_all();
}

}  // namespace ingot
