#include "train/schedule_change.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "optim/schedule.h"

namespace ingot {
namespace {

// A run's rates by step.
class Plan {
 public:
  explicit Plan(const RunConfig& config)
      : config_(config), optim_(config.optim), horizon_(horizon_of(config)) {
    optim_.schedule = resolved_schedule(config);
  }
  int64_t num_steps() const { return horizon_.steps; }
  double rate(int64_t step) const {
    return learning_rate(optim_, progress_after(config_, step), horizon_);
  }

 private:
  const RunConfig& config_;
  OptimConfig optim_;
  Horizon horizon_;
};

// "train.steps (was 6, is 12)": of what decides rates, the settings that a resume may change.
std::string what_differs(const RunConfig& saved, const RunConfig& wanted) {
  std::vector<std::string> found;
  const auto compare = [&](std::string_view name, int64_t was, int64_t is) {
    if (was != is) found.push_back(fmt::format("{} (was {}, is {})", name, was, is));
  };
  compare("train.steps", saved.train.steps, wanted.train.steps);
  compare("train.total_tokens", saved.train.total_tokens, wanted.train.total_tokens);
  return fmt::format("{}", fmt::join(found, ", "));
}

constexpr int64_t kLooks = 1000;  // at most so many steps are compared, first and last among them

}  // namespace

std::optional<std::string> schedule_change(const RunConfig& saved, const RunConfig& wanted,
                                           const Progress& at) {
  const Plan before(saved), after(wanted);
  const int64_t end = std::min(after.num_steps(), std::max(before.num_steps(), at.step + 1));
  const int64_t stride = std::max<int64_t>(1, (end - at.step) / kLooks);
  for (int64_t step = at.step; step < end;
       step = step == end - 1 ? end : std::min(step + stride, end - 1)) {
    const double was = before.rate(step), is = after.rate(step);
    if (was != is)
      return fmt::format("the learning rate of step {} was to be {:.4g} and would be {:.4g}: {}",
                         step + 1, was, is, what_differs(saved, wanted));
  }
  return std::nullopt;
}

}  // namespace ingot
