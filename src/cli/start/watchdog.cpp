#include "cli/start/watchdog.h"

#include <execinfo.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

#include "cli/frame/command_line.h"
#include "core/text/printable.h"

namespace ingot::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook(100);   // between two questions
constexpr std::chrono::milliseconds kStack(500);  // for the other thread to write its stack

int stack_signal() {
  return SIGRTMIN + 3;
}

// backtrace() allocates the first time it is called, which the constructor has done.
void write_stack(int) {
  std::array<void*, 64> frames{};
  ::backtrace_symbols_fd(frames.data(), ::backtrace(frames.data(), frames.size()), STDERR_FILENO);
}

}  // namespace

Watchdog::Watchdog(Lost lost, const Watch& watch, std::chrono::milliseconds grace)
    : lost_(std::move(lost)), watch_(watch), grace_(grace), guarded_(::pthread_self()) {
  void* frame = nullptr;
  ::backtrace(&frame, 1);
  struct sigaction action {};
  action.sa_handler = write_stack;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(stack_signal(), &action, nullptr);
  thread_ = std::thread([this] { guard(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::guard() {
  std::unique_lock lock(mutex_);
  std::optional<std::string> why;
  Clock::time_point end{};
  while (!changed_.wait_for(lock, kLook, [&] { return done_; })) {
    if (why && Clock::now() >= end) end_process(*why);
    if (why) continue;
    why = lost_();
    end = Clock::now() + grace_;
  }
}

void Watchdog::end_process(const std::string& why) const {
  std::string text =
      fmt::format("ingot: {}; this rank did not end within {} s and is ended; it did last:\n",
                  printable(why), grace_.count() / 1000);
  for (const std::string& line : watch_.last_records())
    text += fmt::format("ingot:   {}\n", printable(line));
  text += "ingot: its main thread stands at:\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  ::pthread_kill(guarded_, stack_signal());
  std::this_thread::sleep_for(kStack);
  ::_exit(static_cast<int>(Exit::RankLost));
}

}  // namespace ingot::cli
