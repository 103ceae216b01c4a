// How far a long command has come, on stderr.
#pragma once

#include <chrono>
#include <string>

namespace ingot::cli {

// On a terminal a line that writes over itself, cut to the window's width, without escape
// sequences; elsewhere a line every ten seconds. For one thread at a time.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();  // what stands on the terminal is wiped out
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool is_live() const { return live_; }
  bool is_due() const;  // so that a text is only made when it will be shown
  void show(const std::string& text);
  void keep(const std::string& text);  // lines that stay, above the one that changes
  double seconds() const;              // since it was made

 private:
  void wipe();

  using Clock = std::chrono::steady_clock;
  bool live_;
  size_t width_ = 0;  // of what stands on the terminal
  Clock::time_point start_, last_;
};

}  // namespace ingot::cli
