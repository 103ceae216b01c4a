#include "cli/run/chat_input.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "core/error/error.h"

namespace ingot::cli {
namespace {

std::atomic<int> event = -1;  // of the CtrlC that lives
static_assert(std::atomic<int>::is_always_lock_free);

void on_interrupt(int) {
  const int before = errno;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t count = write(event, &one, sizeof(one));
  errno = before;
}

bool reads_a_person() {
  return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
}

}  // namespace

CtrlC::CtrlC() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  check(fd_ >= 0, ErrorCode::Storage, "no file is left to be opened: raise `ulimit -n`");
  event = fd_;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &before_);
}

CtrlC::~CtrlC() {
  sigaction(SIGINT, &before_, nullptr);
  close(fd_);
}

bool CtrlC::take() {
  uint64_t times = 0;
  return read(fd_, &times, sizeof(times)) == sizeof(times);
}

std::optional<std::string> ChatInput::plain_line(const std::string& prompt, bool& dropped) {
  dropped = false;
  ctrl_c_.take();  // what came after a reply had ended
  if (reads_a_person()) {
    fmt::print("{}", prompt);
    std::fflush(stdout);
  }
  for (;;) {
    if (const size_t end = waiting_.find('\n'); end != std::string::npos) {
      std::string line = waiting_.substr(0, end);
      waiting_.erase(0, end + 1);
      return line;
    }
    pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {ctrl_c_.fd(), POLLIN, 0}};
    if (poll(ready, 2, -1) < 0) continue;  // another signal
    if (ctrl_c_.take()) {
      waiting_.clear();
      dropped = true;
      return "";
    }
    char bytes[4096];
    const ssize_t count = read(STDIN_FILENO, bytes, sizeof(bytes));
    if (count > 0) {
      waiting_.append(bytes, static_cast<size_t>(count));
      continue;
    }
    if (waiting_.empty()) return std::nullopt;
    return std::exchange(waiting_, {});
  }
}

std::optional<std::string> ChatInput::line(const std::string& prompt) {
  std::string whole;
  std::string shown = prompt;
  for (;;) {
    bool dropped = false;
    const auto line = plain_line(shown, dropped);
    if (!line) return whole.empty() ? std::nullopt : std::optional(whole);
    if (dropped) {
      fmt::print("\n(/quit or Ctrl-D leaves)\n");
      whole.clear();
      shown = prompt;
      continue;
    }
    whole += *line;
    if (!whole.ends_with('\\')) return whole;
    whole.back() = '\n';
    shown = "… ";
  }
}

}  // namespace ingot::cli
