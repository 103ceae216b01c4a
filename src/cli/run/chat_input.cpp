#include "cli/run/chat_input.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace ingot::cli {
namespace {

std::atomic<bool> pressed = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_interrupt(int) {
  pressed = true;
}

bool reads_a_person() {
  return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
}

}  // namespace

CtrlC::CtrlC() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;  // without SA_RESTART: a read ends
  sigaction(SIGINT, &action, &before_);
}

CtrlC::~CtrlC() {
  sigaction(SIGINT, &before_, nullptr);
}

bool CtrlC::take() {
  return pressed.exchange(false);
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
    char bytes[4096];
    const ssize_t count = read(STDIN_FILENO, bytes, sizeof(bytes));
    if (count > 0) {
      waiting_.append(bytes, static_cast<size_t>(count));
      continue;
    }
    if (count < 0 && errno == EINTR) {
      if (!ctrl_c_.take()) continue;
      waiting_.clear();
      dropped = true;
      return "";
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
