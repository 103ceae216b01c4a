#include "parallel/comm/watch.h"

#include <fmt/format.h>

#include <algorithm>

namespace ingot {
namespace {

constexpr size_t kRecords = 16;  // of those that are over

double seconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

void Watch::at_step(int64_t step) {
  const std::scoped_lock lock(mutex_);
  step_ = step;
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
                         seconds(now - entry.begun));
  if (entries_.empty()) return fmt::format("step {}", step_);
  return fmt::format("step {}, {:.1f} s after {}", step_, seconds(now - entries_.back().ended),
                     entries_.back().what);
}

std::vector<std::string> Watch::last_records() const {
  const std::scoped_lock lock(mutex_);
  const auto now = Clock::now();
  std::vector<std::string> lines;
  for (const Entry& entry : entries_)
    lines.push_back(entry.is_over ? fmt::format("{} at step {}: {:.3f} s, {:.1f} s ago", entry.what,
                                                entry.step, seconds(entry.ended - entry.begun),
                                                seconds(now - entry.ended))
                                  : fmt::format("{} at step {}: in it for {:.1f} s", entry.what,
                                                entry.step, seconds(now - entry.begun)));
  return lines;
}

}  // namespace ingot
