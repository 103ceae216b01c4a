// Runs a rank's actions in order.
#pragma once

#include <functional>
#include <span>

#include "model/stage.h"
#include "spec/rows/action.h"

namespace ingot {

// Calls around each pass: pipeline stages receive the inputs of a pass and send its outputs there.
// Either may be empty.
struct Borders {
  std::function<void(const Action&)> before = {};
  std::function<void(const Action&)> after = {};
};

// `stages` by Action::stage. The caller sets the store's order of uses and loads the slots' inputs.
void run_actions(std::span<const Action> actions, std::span<Stage* const> stages,
                 const Borders& borders = {});

}  // namespace ingot
