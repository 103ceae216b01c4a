// A run as the person at the terminal sees it, on stderr.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "train/progress.h"
#include "train/trainer.h"

namespace ingot::cli {

// On a terminal the step line rewrites itself; elsewhere every log_every-th step is a line.
class TerminalProgress : public TrainObserver {
 public:
  TerminalProgress(const RunConfig& config, PeakFlops peak);
  void on_start(const RunFacts& facts) override;
  void on_step(const StepReport& report) override;
  void on_eval(const EvalReport& report) override;
  void on_checkpoint(const std::string& dir) override;
  double tokens_per_second() const { return format_.tokens_per_second(); }

 private:
  void print_line(const std::string& line);

  ProgressFormat format_;
  int64_t log_every_;
  bool live_;
  bool line_open_ = false;  // a live line stands on the terminal
  std::chrono::steady_clock::time_point last_live_;
};

// While it lives, the first Ctrl-C (or SIGTERM) sets flag() and the second ends the process.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  const std::atomic<bool>& flag() const;
};

}  // namespace ingot::cli
