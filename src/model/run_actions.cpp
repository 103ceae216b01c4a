#include "model/run_actions.h"

#include "core/error/error.h"

namespace ingot {

void run_actions(std::span<const Action> actions, std::span<Stage* const> stages,
                 const Borders& borders) {
  for (const Action& action : actions) {
    const auto stage = static_cast<size_t>(action.stage);
    check(stage < stages.size() && action.slot >= 0 && action.slot < stages[stage]->num_slots(),
          ErrorCode::Internal,
          "an action expected one of {} stages and a slot it has, got {} and {}", stages.size(),
          action.stage, action.slot);
    if (borders.before) borders.before(action);
    if (action.kind == Action::Forward)
      stages[stage]->forward(action.slot);
    else
      stages[stage]->backward(action.slot);
    if (borders.after) borders.after(action);
  }
}

}  // namespace ingot
