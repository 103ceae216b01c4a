// The policies of every run.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "train/hooks/policy.h"

namespace ingot {

// A stop that was asked for from outside.
class StopWhenAsked final : public Policy {
 public:
  StepVerdict judge(const StepFacts& facts) override {
    return facts.stop_asked ? StepVerdict::Stop : StepVerdict::Go;
  }
};

// Ends a run whose gradients are not finite, with ErrorCode::Numeric: another step would repeat
// them. Weights and the newest checkpoint stay as they were before the step. In fp16 the loss scale
// is lowered instead, unless the very first loss is not finite.
class FiniteGradients final : public Policy {
 public:
  // `where`: finds what in the step's forward pass is not finite first, as first_not_finite() does;
  // called on all ranks or on none.
  FiniteGradients(bool scales_loss, std::function<std::string()> where)
      : scales_loss_(scales_loss), where_(std::move(where)) {}
  StepVerdict judge(const StepFacts& facts) override;

 private:
  bool scales_loss_;
  std::function<std::string()> where_;
};

}  // namespace ingot
