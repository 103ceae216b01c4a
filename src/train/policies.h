// The policies of every run.
#pragma once

#include "train/policy.h"

namespace ingot {

// A stop that was asked for from outside.
class StopWhenAsked final : public Policy {
 public:
  Verdict judge(const StepFacts& facts) override {
    return facts.stop_asked ? Verdict::Stop : Verdict::Go;
  }
};

// Gradients that are not finite end a run whose loss is not scaled, with ErrorCode::Numeric: going
// on would repeat them. Weights and the newest checkpoint are as they were before the step.
class FiniteGradients final : public Policy {
 public:
  Verdict judge(const StepFacts& facts) override;
};

}  // namespace ingot
