// The steps of a run in order: the tokens and samples of each, where they start, and the learning
// rate. This is the only place that computes them.
#pragma once

#include <cstdint>
#include <optional>

#include "spec/run/run_length.h"

namespace ingot {

// All that the steps of a run depend on, with every `auto` decided.
struct StepRules {
  BatchConfig batch;  // tokens are decided
  OptimConfig optim;  // the schedule's lengths are decided
  Horizon horizon;
  int64_t ranks = 1;  // that a step's samples are split among
};

StepRules step_rules(const RunConfig& config);

struct StepPlan {
  int64_t step = 0;          // counted from 1
  int64_t tokens = 0;        // of all ranks, including padding
  int64_t first_sample = 0;  // [first_sample, end_sample) of the sample order
  int64_t end_sample = 0;
  int64_t num_micro_steps = 0;  // of every rank
  int64_t micro_batch = 1;      // samples of a micro-step
  int64_t ranks = 1;
  double lr = 0.0;

  // In micro-step m, rank r of R takes the B samples that start at first_sample + (m·R + r)·B.
  int64_t sample_of(int64_t micro_step, int64_t rank) const {
    return first_sample + (micro_step * ranks + rank) * micro_batch;
  }
};

class StepWalk {
 public:
  explicit StepWalk(const StepRules& rules) : StepWalk(rules, {}, 0) {}
  // Starts after `from`, when `samples` samples have been used.
  StepWalk(const StepRules& rules, const Progress& from, int64_t samples)
      : rules_(rules), at_(from), samples_(samples) {}

  const Progress& at() const { return at_; }  // completed so far
  int64_t samples() const { return samples_; }
  bool at_end() const { return at_.step >= rules_.horizon.steps; }

  StepPlan next() const;            // the next step, also beyond the horizon
  int64_t tokens() const;           // only its tokens; needs no schedule
  int64_t num_equal_steps() const;  // the number of following steps with the same number of tokens

  // Costs time only per step of a batch ramp.
  void advance(int64_t steps = 1);

 private:
  StepRules rules_;
  Progress at_;
  int64_t samples_;
};

// The positions of one rank's micro-batches in the sample order, to the end of the run.
class RankWalk {
 public:
  RankWalk(StepWalk walk, int rank) : walk_(walk), rank_(rank) {}

  std::optional<int64_t> next();

 private:
  StepWalk walk_;
  int64_t rank_;
  int64_t micro_step_ = 0;
};

// Tokens of the next global step, with `batch.tokens` resolved. Grows linearly from
// ramp_start_tokens over ramp_tokens, in multiples of ramp_start_tokens, so that it does not depend
// on the number of ranks.
int64_t batch_tokens(const BatchConfig& batch, const Progress& progress);

}  // namespace ingot
