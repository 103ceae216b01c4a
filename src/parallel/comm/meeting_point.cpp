#include "parallel/comm/meeting_point.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"
#include "core/log.h"

namespace ingot {

bool MeetingPoint::is_hopeless(size_t member) const {
  return is_withdrawn_[member] || (gone_ >= 0 && !is_here_[static_cast<size_t>(gone_)]);
}

void MeetingPoint::arrive(int member, std::string_view what, std::optional<Patience> patience) {
  const auto own = static_cast<size_t>(member);
  std::unique_lock lock(mutex_);
  const int64_t meeting = meetings_;
  is_here_[own] = true;
  if (++num_here_ == size()) {
    std::fill(is_here_.begin(), is_here_.end(), false);
    num_here_ = 0;
    ++meetings_;
    changed_.notify_all();
    return;
  }
  {
    const log::Wait wait("other ranks");
    const auto over = [&] { return meetings_ != meeting || is_hopeless(own); };
    if (patience)
      changed_.wait_until(lock, std::chrono::steady_clock::now() + *patience, over);
    else
      changed_.wait(lock, over);
  }
  if (meetings_ != meeting) return;

  std::vector<int> missing;
  for (size_t i = 0; i < ranks_.size(); ++i)
    if (!is_here_[i]) missing.push_back(ranks_[i]);
  is_here_[own] = false;
  --num_here_;
  if (gone_ >= 0 && gone_ != member) {
    const int rank = rank_of(gone_);
    throw Error(ErrorCode::Comm, fmt::format("rank {} is gone: {}", rank, gone_why_)).on_rank(rank);
  }
  check(!is_withdrawn_[own], ErrorCode::Comm, "abandoned by this rank");
  throw Error(ErrorCode::Comm,
              fmt::format("{}: waited {:.1f} s, and of {} ranks these did not come: {}", what,
                          std::chrono::duration<double>(*patience).count(), size(),
                          fmt::join(missing, ", ")));
}

void MeetingPoint::part() {
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

void MeetingPoint::withdraw(int member) {
  const std::scoped_lock lock(mutex_);
  is_withdrawn_[static_cast<size_t>(member)] = true;
  changed_.notify_all();
}

void MeetingPoint::go(int rank, const std::string& why) {
  const auto found = std::find(ranks_.begin(), ranks_.end(), rank);
  const std::scoped_lock lock(mutex_);
  if (found == ranks_.end() || gone_ >= 0) return;
  gone_ = static_cast<int>(found - ranks_.begin());
  gone_why_ = why;
  changed_.notify_all();
}

}  // namespace ingot
