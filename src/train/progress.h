// What a run shows on a terminal.
#pragma once

#include <string>

#include "spec/model_config.h"
#include "train/trainer.h"

namespace ingot {

// Formats a run's reports as lines; pure, so that it can be tested. `peak_flops` is what was
// measured at start, 0 = unknown.
class ProgressFormat {
 public:
  ProgressFormat(const ModelConfig& model, int64_t T, double peak_flops);

  std::string start(const RunFacts& facts) const;  // several lines
  // "step 120/2000  loss 2.1034  lr 1.00e-03  norm 0.84  31.2k tok/s  MFU 61.3 %  ETA 1 min 12 s";
  // in fp16 with the loss scale after the norm, and whether the step was skipped.
  std::string step(const StepReport& report);
  std::string eval(const EvalReport& report) const;

 private:
  double flops_per_token_;
  double peak_flops_;
  double smoothed_rate_ = 0.0;  // tokens per second, exponential average for the ETA
};

}  // namespace ingot
