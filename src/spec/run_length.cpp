#include "spec/run_length.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace ingot {
namespace {

__extension__ using Int128 = __int128;  // tokens · tokens passes 2^63 in a long run

int64_t divide_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// Trained tokens at which a ramp's next stage begins: the least that batch_tokens() rounds to more.
int64_t next_stage(const BatchConfig& batch, const Progress& progress) {
  const int64_t start = batch.ramp_start_tokens, growth = batch.tokens - start;
  if (growth == 0) return batch.ramp_tokens;
  const Int128 stage = batch_tokens(batch, progress) / start;
  const Int128 begin = (stage * start * batch.ramp_tokens + growth - 1) / growth;
  return static_cast<int64_t>(std::min<Int128>(begin, batch.ramp_tokens));
}

// From the start until `steps_left(progress, tokens of a step)` is none: a stage of the ramp at a
// time, and all that comes after it at once.
template <class StepsLeft>
Progress walk(const RunConfig& config, StepsLeft steps_left) {
  BatchConfig batch = config.batch;
  batch.tokens = full_batch_tokens(config);
  Progress at;
  for (;;) {
    const int64_t tokens = batch_tokens(batch, at);
    int64_t steps = steps_left(at, tokens);
    if (steps <= 0) return at;
    if (batch.ramp_start_tokens > 0 && at.tokens < batch.ramp_tokens)
      steps = std::min(steps, divide_up(next_stage(batch, at) - at.tokens, tokens));
    check(steps <= (std::numeric_limits<int64_t>::max() - at.tokens) / tokens, ErrorCode::Config,
          "a run of {} steps of {} tokens is longer than can be counted: lower train.steps", steps,
          tokens);
    at.step += steps;
    at.tokens += steps * tokens;
  }
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
  return walk(config, [&](const Progress& at, int64_t) { return steps - at.step; });
}

Horizon horizon_of(const RunConfig& config) {
  const int64_t total = config.train.total_tokens;
  const Progress end = config.train.steps > 0
                           ? progress_after(config, config.train.steps)
                           : walk(config, [&](const Progress& at, int64_t tokens) {
                               return divide_up(std::max<int64_t>(0, total - at.tokens), tokens);
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
