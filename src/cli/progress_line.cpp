#include "cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace ingot::cli {

ProgressLine::ProgressLine()
    : live_(isatty(STDERR_FILENO) != 0), start_(Clock::now()), last_(start_) {}

ProgressLine::~ProgressLine() {
  if (open_) std::fputs("\r\033[K", stderr);
}

bool ProgressLine::is_due() const {
  return Clock::now() - last_ >= std::chrono::milliseconds(live_ ? 200 : 10'000);
}

void ProgressLine::show(const std::string& text) {
  if (live_) {
    fmt::print(stderr, "\r{}\033[K", text);
  } else {
    fmt::print(stderr, "{}\n", text);
  }
  std::fflush(stderr);
  open_ = live_;
  last_ = Clock::now();
}

double ProgressLine::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

}  // namespace ingot::cli
