#include "train/hooks/policies.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error/error.h"

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
  const bool is_first = facts.step == 1;
  if (facts.updated || (scales_loss_ && !(is_first && !std::isfinite(facts.loss))))
    return StepVerdict::Go;
  const std::string where = where_();
  const std::string what =
      !where.empty() ? where
                     : fmt::format("gradients: expected a finite norm, got {}, of a loss of {}",
                                   facts.grad_norm, facts.loss);
  // Before the first update the learning rate has changed nothing.
  const char* advice = is_first ? "no step was made yet, so that the weights that the run starts "
                                  "from or its data are at fault"
                                : "lower optim.lr or set optim.clip";
  throw Error(ErrorCode::Numeric, fmt::format("step {}: {}; {}", facts.step, what, advice));
}

}  // namespace ingot
