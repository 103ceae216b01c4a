// What the loop does after a step, decided by the step's result.
#pragma once

#include <cstdint>

namespace ingot {

// In order of gravity: where policies differ, the gravest verdict counts.
enum class StepVerdict {
  Go,
  Skip,       // nothing was updated; continue
  LowerRate,  // halve the learning rate from the next step on
  RollBack,   // load the newest good checkpoint and continue from it
  Stop,       // save and end
};

// "go", "skip", "lower_rate", "roll_back", "stop"
const char* name_of(StepVerdict verdict);

// Of a completed step; equal on all ranks.
struct StepFacts {
  int64_t step = 0;
  double loss = 0.0;  // mean over the step's tokens, nats
  double grad_norm = 0.0;
  bool updated = true;      // false: the norm was not finite and nothing changed
  bool stop_asked = false;  // from outside, on one rank at least
};

// Every rank has its own and asks it after every step. Its verdicts must depend on the facts alone,
// so that all ranks get the same.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual StepVerdict judge(const StepFacts& facts) = 0;
};

}  // namespace ingot
