// What is to be done after a step, by what came of it.
#pragma once

#include <cstdint>

namespace ingot {

// From the least to the most: where policies differ, the last of them counts.
enum class StepVerdict {
  Go,
  Skip,       // nothing was updated, and the run goes on
  LowerRate,  // halve the learning rate from the next step on
  RollBack,   // go back to the newest sound checkpoint and go on from there
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

// Every rank has one of its own and asks it after every step: what it says must follow from the
// facts so far, so that all ranks hear the same.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual StepVerdict judge(const StepFacts& facts) = 0;
};

}  // namespace ingot
