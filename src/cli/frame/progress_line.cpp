#include "cli/frame/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/frame/console.h"
#include "core/system/timing.h"
#include "core/text/printable.h"

namespace ingot::cli {
namespace {

using namespace std::chrono_literals;

// Past the console, for which a carriage return is somebody else's text. A terminal that is gone
// takes nothing, which is no reason to stop.
void write_terminal(const std::string& text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

ProgressLine::ProgressLine() : live_(is_stderr_live()), start_(Clock::now()), last_(start_) {}

ProgressLine::~ProgressLine() {
  wipe();
}

bool ProgressLine::is_due() const {
  return Clock::now() - last_ >= (live_ ? 100ms : 10'000ms);
}

void ProgressLine::show(const std::string& text) {
  last_ = Clock::now();
  if (!live_) return fmt::print(stderr, "{}\n", text);
  // The last column stays free: a terminal may go to the next line when it is filled.
  const auto columns = static_cast<size_t>(std::max(columns_of(STDERR_FILENO), 2) - 1);
  const std::string safe = printable(text);
  const std::string_view cut = cut_to_width(safe, columns);
  const size_t width = width_of(cut);
  // Spaces over what is left of the line before.
  const size_t before = std::min(width_, columns);
  write_terminal(fmt::format("\r{}{:{}}", cut, "", before > width ? before - width : 0));
  width_ = width;
}

void ProgressLine::keep(const std::string& text) {
  wipe();
  fmt::print(stderr, "{}\n", text);
}

void ProgressLine::wipe() {
  if (width_ > 0) write_terminal(fmt::format("\r{:{}}\r", "", width_));
  width_ = 0;
}

double ProgressLine::seconds() const {
  return seconds_since(start_);
}

}  // namespace ingot::cli
