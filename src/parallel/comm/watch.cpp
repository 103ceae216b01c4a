#include "parallel/comm/watch.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/system/timing.h"

namespace ingot {
namespace {

constexpr size_t kRecords = 16;  // of those that are over

}  // namespace

void Watch::at_step(int64_t step) {
  const std::scoped_lock lock(mutex_);
  step_ = step;
}

int64_t Watch::step() const {
  const std::scoped_lock lock(mutex_);
  return step_;
}

int64_t Watch::begin(std::string what) {
  const std::scoped_lock lock(mutex_);
  entries_.push_back({++count_, step_, std::move(what), Clock::now(), {}, false});
  return count_;
}

void Watch::end(int64_t number) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(entries_, number, &Entry::number);
  if (found == entries_.end()) return;
  found->ended = Clock::now();
  found->is_over = true;
  while (entries_.size() > kRecords && entries_.front().is_over) entries_.pop_front();
}

std::string Watch::state() const {
  const std::scoped_lock lock(mutex_);
  const auto now = Clock::now();
  for (const Entry& entry : entries_)  // the oldest is what the rest waits for
    if (!entry.is_over)
      return fmt::format("step {}, in {} for {:.1f} s", step_, entry.what,
                         to_seconds(now - entry.begun));
  if (entries_.empty()) return fmt::format("step {}", step_);
  return fmt::format("step {}, {:.1f} s after {}", step_, to_seconds(now - entries_.back().ended),
                     entries_.back().what);
}

std::vector<std::string> Watch::last_records() const {
  const std::scoped_lock lock(mutex_);
  const auto now = Clock::now();
  std::vector<std::string> lines;
  for (const Entry& entry : entries_)
    lines.push_back(entry.is_over ? fmt::format("{} at step {}: {:.3f} s, {:.1f} s ago", entry.what,
                                                entry.step, to_seconds(entry.ended - entry.begun),
                                                to_seconds(now - entry.ended))
                                  : fmt::format("{} at step {}: in it for {:.1f} s", entry.what,
                                                entry.step, to_seconds(now - entry.begun)));
  return lines;
}

Error waited_for(std::chrono::duration<double> time, std::span<const MissingRank> missing) {
  std::vector<int> ranks;
  std::string where;
  for (const MissingRank& one : missing) {
    ranks.push_back(one.rank);
    where += fmt::format("; rank {}: {}", one.rank, one.state);
  }
  return Error(ErrorCode::Comm,
               fmt::format("waited {:.1f} s for rank{} {}{}", time.count(),
                           ranks.size() == 1 ? "" : "s", text_of_ranks(ranks), where))
      .on_rank(ranks.empty() ? -1 : ranks.front());
}

bool is_refusal(ErrorCode code) {
  return code == ErrorCode::Usage || code == ErrorCode::Config;
}

Error lost_error(const LostRank& lost) {
  if (is_refusal(lost.code))
    return Error(lost.code, fmt::format("rank {} refuses the run: {}", lost.rank, lost.why))
        .on_rank(lost.rank);
  return Error(ErrorCode::Comm, fmt::format("rank {} is lost: {}", lost.rank, lost.why))
      .on_rank(lost.rank);
}

std::string text_of_ranks(std::span<const int> ranks) {
  constexpr size_t kListed = 8;
  if (ranks.size() <= kListed) return fmt::format("{}", fmt::join(ranks, ","));
  std::vector<std::string> runs;
  for (size_t begin = 0, end = 0; begin < ranks.size(); begin = end) {
    for (end = begin + 1; end < ranks.size() && ranks[end] == ranks[end - 1] + 1;) ++end;
    runs.push_back(end - begin == 1 ? fmt::format("{}", ranks[begin])
                                    : fmt::format("{}-{}", ranks[begin], ranks[end - 1]));
  }
  return fmt::format("{}", fmt::join(runs, ","));
}

}  // namespace ingot
