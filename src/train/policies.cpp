#include "train/policies.h"

#include "core/error.h"

namespace ingot {

const char* name_of(StepVerdict verdict) {
  switch (verdict) {
    case StepVerdict::Go:
      return "go";
    case StepVerdict::Skip:
      return "skip";
    case StepVerdict::LowerRate:
      return "lower_rate";
    case StepVerdict::RollBack:
      return "roll_back";
    case StepVerdict::Stop:
      return "stop";
  }
  throw Error(ErrorCode::Internal, "unknown verdict");
}

StepVerdict FiniteGradients::judge(const StepFacts& facts) {
  check(facts.updated, ErrorCode::Numeric,
        "gradient norm: expected a finite number, got {} at step {}; lower optim.lr or set "
        "optim.clip",
        facts.grad_norm, facts.step);
  return StepVerdict::Go;
}

}  // namespace ingot
