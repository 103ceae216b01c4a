#include "train/start/schedule_change.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "spec/run/step_walk.h"

namespace ingot {
namespace {

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
  const StepRules before = step_rules(saved), after = step_rules(wanted);
  const int64_t end = std::min(after.horizon.steps, std::max(before.horizon.steps, at.step + 1));
  const int64_t stride = std::max<int64_t>(1, (end - at.step) / kLooks);
  StepWalk old_walk(before), new_walk(after);
  for (int64_t step = at.step; step < end;
       step = step == end - 1 ? end : std::min(step + stride, end - 1)) {
    for (StepWalk* walk : {&old_walk, &new_walk}) walk->advance(step - walk->at().step);
    const double was = old_walk.next().lr, is = new_walk.next().lr;
    if (was != is)
      return fmt::format("the learning rate of step {} was to be {:.4g} and would be {:.4g}: {}",
                         step + 1, was, is, what_differs(saved, wanted));
  }
  return std::nullopt;
}

}  // namespace ingot
