// When a step computed and when the link was busy, as it was, in lines of text.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "parallel/comm/communicator.h"

namespace ingot::test {

// Of one step. Thread-safe.
class StepDrawing {
 public:
  using Clock = std::chrono::steady_clock;

  void begin() {
    const std::scoped_lock lock(mutex_);
    begin_ = end_ = Clock::now();
    ticks_.clear(), gathers_.clear(), reductions_.clear();
  }
  void tick() {
    const std::scoped_lock lock(mutex_);
    ticks_.push_back(Clock::now());
  }
  void busy(Collective kind, Clock::time_point from, Clock::time_point to) {
    const std::scoped_lock lock(mutex_);
    (kind == Collective::AllGather ? gathers_ : reductions_).push_back({from, to});
  }
  void end() {
    const std::scoped_lock lock(mutex_);
    end_ = Clock::now();
  }

  // Three lines: a tick's number where it begins, and a block wherever the link was busy.
  std::string text() const {
    const std::scoped_lock lock(mutex_);
    std::string compute(kColumns, ' ');
    for (size_t i = 0; i < ticks_.size(); ++i) {
      const std::string mark = fmt::format("|{}", i);
      compute.replace(column(ticks_[i]), mark.size(), mark);
    }
    const double ms = std::chrono::duration<double, std::milli>(end_ - begin_).count();
    return fmt::format("compute  {}\ngathers  {}\nreduces  {}\n({:.0f} ms, one column {:.1f} ms)\n",
                       compute, row(gathers_), row(reductions_), ms, ms / kColumns);
  }

 private:
  struct Span {
    Clock::time_point from, to;
  };
  static constexpr size_t kColumns = 100;

  size_t column(Clock::time_point at) const {
    const std::chrono::duration<double> from = at - begin_, whole = end_ - begin_;
    const double share = whole.count() > 0 ? from.count() / whole.count() : 0.0;
    return static_cast<size_t>(std::clamp(share, 0.0, 1.0) * (kColumns - 4));
  }
  std::string row(const std::vector<Span>& spans) const {
    std::vector<bool> busy(kColumns);
    for (const Span& span : spans)
      for (size_t i = column(span.from); i <= column(span.to); ++i) busy[i] = true;
    std::string text;
    for (const bool is_busy : busy) text += is_busy ? "█" : "·";
    return text;
  }

  mutable std::mutex mutex_;
  Clock::time_point begin_, end_;
  std::vector<Clock::time_point> ticks_;
  std::vector<Span> gathers_, reductions_;
};

}  // namespace ingot::test
