// A run as the person at the terminal sees it, on stderr.
#pragma once

#include <functional>

#include "cli/frame/progress_line.h"
#include "train/records/progress.h"
#include "train/trainer.h"

namespace ingot::cli {

// The step line is a ProgressLine: on a terminal it writes over itself, elsewhere there is the
// first step, one every ten seconds and the last. With train.log_every every so many steps are a
// line that stays instead.
class TerminalProgress : public Sink {
 public:
  // `peak` is asked now, and again when a step is faster than it said.
  TerminalProgress(const RunConfig& config, std::function<PeakFlops()> peak);
  void begin(const RunFacts& facts) override;
  void take(const RunRecord& record) override;
  // As the last step line had it.
  const PeakFlops* peak() const { return &format_.peak(); }
  double tokens_per_second() const { return format_.tokens_per_second(); }

 private:
  void show(const StepReport& report);
  void check_peak(const StepReport& report);
  void show(const EvalReport& report);
  void show(const ScoreReport& report);
  void show(const SavedReport& report);
  void show(const LostReport& report);
  template <class Other>
  void show(const Other&) {}

  std::function<PeakFlops()> peak_;
  int times_measured_ = 1;
  ProgressFormat format_;
  int64_t log_every_;
  int64_t total_steps_ = 0;
  bool first_ = true;  // no step was shown
  ProgressLine line_;
};

}  // namespace ingot::cli
