// What a rank does in a step, as data: who runs a step and who predicts one read the same list.
#pragma once

#include <vector>

namespace ingot {

// A pass of one micro-batch through one stage of the model. `slot` names the activation rows that
// the micro-batch has from its forward to its backward pass.
struct Action {
  enum Kind { Forward, Backward };
  Kind kind = Forward;
  int stage = 0;
  int slot = 0;
  bool operator==(const Action&) const = default;
};

// Where one rank holds all layers: each micro-batch forward, then backward, in slot 0.
std::vector<Action> one_rank_actions(int micro_steps);

}  // namespace ingot
