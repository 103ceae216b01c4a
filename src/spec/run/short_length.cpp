#include "spec/run/short_length.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "spec/run/step_walk.h"

namespace ingot {
namespace {

// The tokens of the last step, after which nothing asks for a learning rate.
int64_t last_step_tokens(const RunConfig& config) {
  StepWalk walk(step_rules(config));
  walk.advance(std::max<int64_t>(0, horizon_of(config).steps - 1));
  return walk.tokens();
}

// A setting that counts tokens.
struct Length {
  std::string_view name;
  int64_t tokens = 0;
  int64_t step = 0;  // tokens of the step that it has to reach

  std::string got(std::string_view expected) const {
    return fmt::format("{}: expected {} a step, which is {} tokens, got {}, which are {:.2g} steps",
                       name, expected, step, tokens,
                       static_cast<double>(tokens) / static_cast<double>(step));
  }
  std::string set_to(int64_t steps) const {
    return fmt::format("for {} steps --set {}={:.0f}", steps, name,
                       static_cast<double>(steps) * static_cast<double>(step));
  }
};

}  // namespace

std::string lengths_below_a_step(const RunConfig& config) {
  const int64_t first = StepWalk(step_rules(config)).tokens();
  std::vector<std::string> found;

  const Length total{"train.total_tokens", config.train.total_tokens, first};
  if (total.tokens > 0 && total.tokens < first)
    found.push_back(fmt::format("{}: for {} steps --set train.steps={}", total.got("at least"),
                                total.tokens, total.tokens));
  const Length ramp{"batch.ramp_tokens", config.batch.ramp_tokens, first};
  if (ramp.tokens > 0 && ramp.tokens < first)
    found.push_back(fmt::format("{}: {}", ramp.got("at least"), ramp.set_to(ramp.tokens)));

  const ScheduleConfig& schedule = config.optim.schedule;
  constexpr std::string_view kUnit =
      "; or count warm-up and decay in steps, "
      "--set optim.schedule.unit=steps";
  const bool in_tokens = schedule.unit == ScheduleUnit::Tokens;
  const Length warmup{"optim.schedule.warmup", schedule.warmup, first};
  if (in_tokens && warmup.tokens > 0 && warmup.tokens < first)
    found.push_back(
        fmt::format("{}: {}{}", warmup.got("at least"), warmup.set_to(warmup.tokens), kUnit));
  // A step has the learning rate of its beginning: a decay within the last one changes none.
  const Length decay{"optim.schedule.decay", schedule.decay, last_step_tokens(config)};
  if (in_tokens && decay.tokens > 0 && decay.tokens < decay.step)
    found.push_back(
        fmt::format("{}: {}{}", decay.got("more than"), decay.set_to(decay.tokens), kUnit));
  else if (decay.tokens == (in_tokens ? decay.step : 1))
    found.push_back(fmt::format(
        "optim.schedule.decay: expected more than a step, got one, in which no learning rate "
        "falls: for 2 steps --set optim.schedule.decay={}",
        in_tokens ? 2 * decay.step : 2));
  return fmt::format("{}", fmt::join(found, "; "));
}

}  // namespace ingot
