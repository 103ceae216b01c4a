#include "train/policies.h"

#include "core/error.h"

namespace ingot {

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Go:
      return "go";
    case Verdict::Skip:
      return "skip";
    case Verdict::LowerRate:
      return "lower_rate";
    case Verdict::RollBack:
      return "roll_back";
    case Verdict::Stop:
      return "stop";
  }
  throw Error(ErrorCode::Internal, "unknown verdict");
}

Verdict FiniteGradients::judge(const StepFacts& facts) {
  check(facts.updated, ErrorCode::Numeric,
        "gradient norm: expected a finite number, got {} at step {}; lower optim.lr or set "
        "optim.clip",
        facts.grad_norm, facts.step);
  return Verdict::Go;
}

}  // namespace ingot
