// Shows the progress of a long command on stderr.
#pragma once

#include <chrono>
#include <string>

namespace ingot::cli {

// On a terminal one line, updated in place without escape sequences and cut to the window's width;
// elsewhere a line every ten seconds. For one thread at a time.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();  // clears the line on the terminal
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool is_live() const { return live_; }
  bool is_due() const;  // whether show() would show a text now
  void show(const std::string& text);
  void keep(const std::string& text);  // prints lines that stay, above the updated one
  double seconds() const;              // since it was made

 private:
  void wipe();

  using Clock = std::chrono::steady_clock;
  bool live_;
  size_t width_ = 0;  // of the line on the terminal
  Clock::time_point start_, last_;
};

}  // namespace ingot::cli
