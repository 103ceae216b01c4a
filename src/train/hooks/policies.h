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

// Gradients that are not finite end a run with ErrorCode::Numeric: another step would repeat them.
// Weights and the newest checkpoint are as they were before the step. Where the loss is scaled
// (fp16), a smaller scale may mend them, but not a first loss that is not finite itself.
class FiniteGradients final : public Policy {
 public:
  // `where`: what of the step's forward pass is not finite first, as first_not_finite() says it;
  // asked on all ranks or on none.
  FiniteGradients(bool scales_loss, std::function<std::string()> where)
      : scales_loss_(scales_loss), where_(std::move(where)) {}
  StepVerdict judge(const StepFacts& facts) override;

 private:
  bool scales_loss_;
  std::function<std::string()> where_;
};

}  // namespace ingot
