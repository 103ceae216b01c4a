// A run as the person at the terminal sees it, on stderr.
#pragma once

#include <string>

#include "cli/progress_line.h"
#include "train/progress.h"
#include "train/trainer.h"

namespace ingot::cli {

// The step line is a ProgressLine: on a terminal it writes over itself, elsewhere there is the
// first step, one every ten seconds and the last. With train.log_every every so many steps are a
// line that stays instead.
class TerminalProgress : public Sink {
 public:
  TerminalProgress(const RunConfig& config, PeakFlops peak);
  void take(const Record& record) override;
  double tokens_per_second() const { return format_.tokens_per_second(); }

 private:
  void show(const RunFacts& facts);
  void show(const StepReport& report);
  void show(const EvalReport& report);
  void show(const SavedReport& report);
  void show(const EndReport&) {}
  void show(const LostReport& report);

  ProgressFormat format_;
  int64_t log_every_;
  bool first_ = true;  // no step was shown
  ProgressLine line_;
};

}  // namespace ingot::cli
