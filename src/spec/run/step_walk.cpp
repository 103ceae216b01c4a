#include "spec/run/step_walk.h"

#include <algorithm>
#include <limits>

#include "core/error/error.h"
#include "spec/run/schedule.h"

namespace ingot {
namespace {

__extension__ using Int128 = __int128;  // tokens · tokens passes 2^63 in a long run

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// Trained tokens at which a ramp's next stage begins: the least that batch_tokens() rounds to more.
int64_t next_stage(const BatchConfig& batch, const Progress& progress) {
  const int64_t start = batch.ramp_start_tokens, growth = batch.tokens - start;
  if (growth == 0) return batch.ramp_tokens;
  const Int128 stage = batch_tokens(batch, progress) / start;
  const Int128 begin = (stage * start * batch.ramp_tokens + growth - 1) / growth;
  return static_cast<int64_t>(std::min<Int128>(begin, batch.ramp_tokens));
}

}  // namespace

int64_t batch_tokens(const BatchConfig& batch, const Progress& progress) {
  check(batch.tokens > 0, ErrorCode::Internal, "batch: expected its tokens to be decided, got {}",
        batch.tokens);
  const int64_t start = batch.ramp_start_tokens;
  if (start == 0 || progress.tokens >= batch.ramp_tokens) return batch.tokens;
  const Int128 grown = Int128{batch.tokens - start} * progress.tokens / batch.ramp_tokens;
  return (start + static_cast<int64_t>(grown)) / start * start;
}

StepRules step_rules(const RunConfig& config) {
  StepRules rules;
  rules.batch = config.batch;
  rules.batch.tokens = full_batch_tokens(config);
  rules.optim = config.optim;
  rules.optim.schedule = resolved_schedule(config);
  rules.horizon = horizon_of(config);
  rules.ranks = config.system.ranks;
  return rules;
}

int64_t StepWalk::tokens() const {
  return batch_tokens(rules_.batch, at_);
}

int64_t StepWalk::num_equal_steps() const {
  const BatchConfig& batch = rules_.batch;
  if (batch.ramp_start_tokens == 0 || at_.tokens >= batch.ramp_tokens) return kMost;
  const int64_t tokens = this->tokens();
  return (next_stage(batch, at_) - at_.tokens + tokens - 1) / tokens;
}

StepPlan StepWalk::next() const {
  const BatchConfig& batch = rules_.batch;
  StepPlan plan;
  plan.step = at_.step + 1;
  plan.tokens = tokens();
  plan.first_sample = samples_;
  plan.end_sample = samples_ + plan.tokens / batch.seq;
  plan.num_micro_steps = plan.tokens / (batch.micro_batch * batch.seq * rules_.ranks);
  plan.micro_batch = batch.micro_batch;
  plan.ranks = rules_.ranks;
  plan.lr = learning_rate(rules_.optim, at_, rules_.horizon);
  return plan;
}

void StepWalk::advance(int64_t steps) {
  while (steps > 0) {
    const int64_t tokens = this->tokens(), equal = std::min(steps, num_equal_steps());
    check(equal <= (kMost - at_.tokens) / tokens, ErrorCode::Config,
          "a run of {} steps of {} tokens is longer than can be counted: lower train.steps", equal,
          tokens);
    at_.step += equal;
    at_.tokens += equal * tokens;
    samples_ += equal * (tokens / rules_.batch.seq);
    steps -= equal;
  }
}

std::optional<int64_t> RankWalk::next() {
  if (walk_.at_end()) return std::nullopt;
  const StepPlan step = walk_.next();
  const int64_t sample = step.sample_of(micro_step_, rank_);
  if (++micro_step_ == step.num_micro_steps) {
    micro_step_ = 0;
    walk_.advance();
  }
  return sample;
}

}  // namespace ingot
