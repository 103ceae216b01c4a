#include "spec/run_length.h"

#include <cmath>
#include <limits>

#include "core/error.h"

namespace ingot {
namespace {

__extension__ using Int128 = __int128;  // tokens · tokens passes 2^63 in a long run

// Steps until `done(progress)`, given that the batch is whole once a ramp is over: those of the
// ramp are walked, `rest(progress)` counts the others.
template <class Done, class Rest>
Progress walk(const RunConfig& config, Done done, Rest rest) {
  BatchConfig batch = config.batch;
  batch.tokens = full_batch_tokens(config);
  Progress progress;
  const int64_t ramp_end = batch.ramp_start_tokens > 0 ? batch.ramp_tokens : 0;
  while (progress.tokens < ramp_end && !done(progress)) {
    progress.tokens += batch_tokens(batch, progress);
    ++progress.step;
  }
  if (done(progress)) return progress;
  const int64_t steps = rest(progress, batch.tokens);
  check(steps <= (std::numeric_limits<int64_t>::max() - progress.tokens) / batch.tokens,
        ErrorCode::Config,
        "a run of {} steps of {} tokens is longer than can be counted: lower "
        "train.steps",
        steps, batch.tokens);
  return {progress.step + steps, progress.tokens + steps * batch.tokens};
}

int64_t share_of(double fraction, int64_t length) {
  return std::llround(fraction * static_cast<double>(length));
}

}  // namespace

int64_t full_batch_tokens(const RunConfig& config) {
  const int64_t granule = config.batch.micro_batch * config.batch.seq * config.system.ranks;
  return config.batch.tokens > 0 ? config.batch.tokens : granule;
}

int64_t batch_tokens(const BatchConfig& config, const Progress& progress) {
  check(config.tokens > 0, ErrorCode::Internal, "batch: expected its tokens to be decided, got {}",
        config.tokens);
  const int64_t start = config.ramp_start_tokens;
  if (start == 0 || progress.tokens >= config.ramp_tokens) return config.tokens;
  const Int128 grown = Int128{config.tokens - start} * progress.tokens / config.ramp_tokens;
  return (start + static_cast<int64_t>(grown)) / start * start;
}

Progress progress_after(const RunConfig& config, int64_t steps) {
  return walk(
      config, [&](const Progress& at) { return at.step >= steps; },
      [&](const Progress& at, int64_t) { return steps - at.step; });
}

Horizon horizon_of(const RunConfig& config) {
  const int64_t total = config.train.total_tokens;
  const Progress end = config.train.steps > 0
                           ? progress_after(config, config.train.steps)
                           : walk(
                                 config, [&](const Progress& at) { return at.tokens >= total; },
                                 [&](const Progress& at, int64_t tokens) {
                                   return (total - at.tokens + tokens - 1) / tokens;
                                 });
  return {end.step, end.tokens};
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
