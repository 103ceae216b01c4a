// What a run shows on a terminal.
#pragma once

#include <string>

#include "spec/model/model_config.h"
#include "train/records/record.h"
#include "train/step/mfu.h"

namespace ingot {

// "loss 2.1034 (ppl 8.194)": of nats per token, and the perplexity that they are.
std::string loss_text(double loss);

// Formats a run's reports as lines; pure, so that it can be tested.
class ProgressFormat {
 public:
  ProgressFormat(const ModelConfig& model, int64_t T, PeakFlops peak);

  std::string start(const RunFacts& facts);  // several lines
  // After start(), which says how long the run is.
  // "step 120/2000  loss 2.1034 (ppl 8.194)  lr 1.00e-03  norm 0.840  31,200 tok/s  MFU 44.1 %
  // (60.7 % of measured)  tokens 480k, 0 padded, 480k unique  ETA 1 min 12 s"; in fp16 with the
  // loss scale after the norm, and whether the step was skipped; before the ETA a slow rank, if
  // there is one.
  std::string step(const StepReport& report);
  std::string eval(const EvalReport& report) const;  // a line more for each source
  std::string score(const ScoreReport& report) const;
  double tokens_per_second() const { return smoothed_rate_; }
  const PeakFlops& peak() const { return peak_; }

  // Whether the step computed faster than the measured peak, which then was none.
  bool is_above_peak(const StepReport& report) const;
  // The peak as it was measured again; the higher one stays. Says which that is.
  std::string measured_again(const PeakFlops& peak);

 private:
  double flops_per_token_;
  PeakFlops peak_;
  int64_t total_steps_ = 0, total_tokens_ = 0;
  double smoothed_rate_ = 0.0;  // tokens per second, exponential average for the ETA
};

}  // namespace ingot
