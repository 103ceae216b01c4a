// The steps of a run, one after the other: how many tokens and samples each takes, from where, and
// at which learning rate. Whoever asks what a step is asks here.
#pragma once

#include <cstdint>
#include <optional>

#include "spec/run/run_length.h"

namespace ingot {

// What all steps of a run follow from, with nothing left to decide.
struct StepRules {
  BatchConfig batch;  // tokens decided
  OptimConfig optim;  // the schedule's lengths decided
  Horizon horizon;
  int64_t ranks = 1;  // among which a step's samples are dealt out
};

StepRules step_rules(const RunConfig& config);

struct StepPlan {
  int64_t step = 0;          // counted from 1
  int64_t tokens = 0;        // of all ranks, padding among them
  int64_t first_sample = 0;  // [first_sample, end_sample) of the stream
  int64_t end_sample = 0;
  int64_t num_micro_steps = 0;  // of every rank
  int64_t micro_batch = 1;      // samples of a micro-step
  int64_t ranks = 1;
  double lr = 0.0;

  // Micro-step m of rank r of R takes the B samples from first_sample + (m·R + r)·B on.
  int64_t sample_of(int64_t micro_step, int64_t rank) const {
    return first_sample + (micro_step * ranks + rank) * micro_batch;
  }
};

class StepWalk {
 public:
  explicit StepWalk(const StepRules& rules) : StepWalk(rules, {}, 0) {}
  // Begins after `from`, by when `samples` of the stream were taken.
  StepWalk(const StepRules& rules, const Progress& from, int64_t samples)
      : rules_(rules), at_(from), samples_(samples) {}

  const Progress& at() const { return at_; }  // what lies behind
  int64_t samples() const { return samples_; }
  bool at_end() const { return at_.step >= rules_.horizon.steps; }

  StepPlan next() const;            // the step ahead, also beyond the horizon
  int64_t tokens() const;           // its tokens alone, for which no schedule is needed
  int64_t num_equal_steps() const;  // so many steps from here on have as many tokens

  // Takes time by the stages of a ramp only.
  void advance(int64_t steps = 1);

 private:
  StepRules rules_;
  Progress at_;
  int64_t samples_;
};

// Where one rank's micro-batches stand in the stream of samples, to the end of the run.
class RankWalk {
 public:
  RankWalk(StepWalk walk, int rank) : walk_(walk), rank_(rank) {}

  std::optional<int64_t> next();

 private:
  StepWalk walk_;
  int64_t rank_;
  int64_t micro_step_ = 0;
};

// Tokens of the next global step, `batch.tokens` being decided: grows linearly from
// ramp_start_tokens over ramp_tokens, in whole multiples of ramp_start_tokens, so that it does not
// depend on how many ranks there are.
int64_t batch_tokens(const BatchConfig& batch, const Progress& progress);

}  // namespace ingot
