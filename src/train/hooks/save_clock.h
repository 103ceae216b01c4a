// When a checkpoint is due by the clock.
#pragma once

#include <algorithm>
#include <chrono>

namespace ingot {

class SaveClock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Span = std::chrono::duration<double>;

  // `minutes`: from the start of the run, or the end of a save, to the next save; 0: never.
  SaveClock(double minutes, Time start) : every_(minutes * 60.0), since_(start) {}

  bool is_due(Time now) const { return every_.count() > 0 && now - since_ >= wait(); }
  // Tells of a save, for whatever reason. The next one by the clock comes so late that saves of
  // this length take at most 2 % of the time.
  void saved(Time begin, Time end) {
    cost_ = end - begin;
    since_ = end;
  }

 private:
  static constexpr double kLargestShare = 0.02;
  Span wait() const { return std::max(every_, cost_ * (1.0 / kLargestShare - 1.0)); }

  Span every_, cost_{0.0};
  Time since_;
};

}  // namespace ingot
