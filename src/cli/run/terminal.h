// Shows a run's progress on stderr.
#pragma once

#include <functional>

#include "cli/frame/progress_line.h"
#include "train/records/progress.h"
#include "train/trainer.h"

namespace ingot::cli {

// Steps are a ProgressLine: on a terminal a line that is updated in place, elsewhere the first
// step, a step every ten seconds and the last. If train.log_every is set, a line is printed every
// so many steps instead.
class TerminalProgress : public Sink {
 public:
  // Calls `peak` now, and again if a step is faster than that peak.
  TerminalProgress(const RunConfig& config, std::function<PeakFlops()> peak);
  void begin(const RunFacts& facts) override;
  void take(const RunRecord& record) override;
  // The values in the last step line.
  const PeakFlops* peak() const { return &format_.peak(); }
  double tokens_per_second() const { return format_.tokens_per_second(); }

 private:
  void show(const StepReport& report);
  void check_peak(const StepReport& report);
  void show(const EvalReport& report);
  void show(const SavedReport& report);
  void show(const LostReport& report);
  template <class Other>
  void show(const Other&) {}

  std::function<PeakFlops()> peak_;
  int times_measured_ = 1;
  ProgressFormat format_;
  int64_t log_every_;
  int64_t total_steps_ = 0;
  bool first_ = true;  // no step was shown yet
  ProgressLine line_;
};

}  // namespace ingot::cli
