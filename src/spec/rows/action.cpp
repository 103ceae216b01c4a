#include "spec/rows/action.h"

namespace ingot {

std::vector<Action> one_rank_actions(int micro_steps) {
  std::vector<Action> actions;
  for (int i = 0; i < micro_steps; ++i)
    for (const Action::Kind kind : {Action::Forward, Action::Backward})
      actions.push_back({kind, 0, 0});
  return actions;
}

}  // namespace ingot
