#include "cli/run/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

namespace ingot::cli {
namespace {

// Often enough to look alive, seldom enough to cost nothing.
constexpr auto kRedraw = std::chrono::milliseconds(100);

std::atomic<bool> stop_requested{false};

void request_stop(int signal) {
  stop_requested.store(true, std::memory_order_relaxed);
  std::signal(signal, SIG_DFL);  // a second one ends the process at once
}

}  // namespace

TerminalProgress::TerminalProgress(const RunConfig& config, PeakFlops peak)
    : format_(config.model, config.batch.seq, std::move(peak)),
      log_every_(std::max<int64_t>(1, config.train.log_every)),
      live_(isatty(STDERR_FILENO) == 1) {}

void TerminalProgress::on_start(const RunFacts& facts) {
  print_line(format_.start(facts));
}

void TerminalProgress::on_step(const StepReport& report) {
  const std::string line = format_.step(report);
  const bool last = report.step == report.total_steps;
  if (report.step % log_every_ == 0 && (!live_ || log_every_ > 1)) {
    print_line(line);
  } else if (live_ && (last || std::chrono::steady_clock::now() - last_live_ > kRedraw)) {
    fmt::print(stderr, "\r\033[K{}", line);
    std::fflush(stderr);
    last_live_ = std::chrono::steady_clock::now();
    line_open_ = true;
  }
}

void TerminalProgress::on_eval(const EvalReport& report) {
  print_line(format_.eval(report));
}

void TerminalProgress::on_checkpoint(const std::string& dir) {
  print_line(fmt::format("saved    {}", dir));
}

void TerminalProgress::print_line(const std::string& line) {
  if (line_open_) fmt::print(stderr, "\n");
  line_open_ = false;
  fmt::print(stderr, "{}\n", line);
}

StopOnSignal::StopOnSignal() {
  stop_requested = false;
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
}

StopOnSignal::~StopOnSignal() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

const std::atomic<bool>& StopOnSignal::flag() const {
  return stop_requested;
}

}  // namespace ingot::cli
