// The actions of a rank in a step, as data: execution and prediction read the same list.
#pragma once

#include <vector>

namespace ingot {

// One pass of one micro-batch through one pipeline stage. `slot` names the activation rows that the
// micro-batch keeps from its forward to its backward pass.
struct Action {
  enum Kind { Forward, Backward };
  Kind kind = Forward;
  int stage = 0;
  int slot = 0;
  bool operator==(const Action&) const = default;
};

// For one rank with all layers: each micro-batch forward, then backward, in slot 0.
std::vector<Action> one_rank_actions(int micro_steps);

}  // namespace ingot
