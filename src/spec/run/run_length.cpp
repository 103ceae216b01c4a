#include "spec/run/run_length.h"

#include <algorithm>
#include <cmath>

#include "spec/run/step_walk.h"

namespace ingot {
namespace {

int64_t divide_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

int64_t share_of(double fraction, int64_t length) {
  return std::llround(fraction * static_cast<double>(length));
}

}  // namespace

int64_t full_batch_tokens(const RunConfig& config) {
  const int64_t granule = config.batch.micro_batch * config.batch.seq * config.system.ranks;
  return config.batch.tokens > 0 ? config.batch.tokens : granule;
}

Horizon horizon_of(const RunConfig& config) {
  StepRules rules;  // rates, which know the horizon, are not asked for
  rules.batch = config.batch;
  rules.batch.tokens = full_batch_tokens(config);
  StepWalk walk(rules);
  const auto steps_left = [&] {
    if (config.train.steps > 0) return config.train.steps - walk.at().step;
    const int64_t tokens_left = config.train.total_tokens - walk.at().tokens;
    return divide_up(std::max<int64_t>(0, tokens_left), walk.tokens());
  };
  for (int64_t left = steps_left(); left > 0; left = steps_left())
    walk.advance(std::min(left, walk.num_equal_steps()));
  return {walk.at().step, walk.at().tokens};
}

ScheduleConfig resolved_schedule(const RunConfig& config) {
  ScheduleConfig schedule = config.optim.schedule;
  const bool in_tokens = schedule.unit == ScheduleUnit::Tokens;
  int64_t length = in_tokens ? config.train.total_tokens : config.train.steps;
  if (length == 0) length = in_tokens ? horizon_of(config).tokens : horizon_of(config).steps;
  if (schedule.warmup_fraction > 0) schedule.warmup = share_of(schedule.warmup_fraction, length);
  if (schedule.decay_fraction > 0) schedule.decay = share_of(schedule.decay_fraction, length);
  schedule.warmup_fraction = schedule.decay_fraction = 0.0;
  return schedule;
}

}  // namespace ingot
