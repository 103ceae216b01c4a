// How far a long command has come, on stderr.
#pragma once

#include <chrono>
#include <string>

namespace ingot::cli {

// On a terminal a line that rewrites itself and is gone at the end, elsewhere a line now and then.
// For one thread at a time.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool is_due() const;  // so that a text is only made when it will be shown
  void show(const std::string& text);
  double seconds() const;  // since it was made

 private:
  using Clock = std::chrono::steady_clock;
  bool live_, open_ = false;
  Clock::time_point start_, last_;
};

}  // namespace ingot::cli
