// The executor: a rank's actions, run in order.
#pragma once

#include <functional>
#include <span>

#include "model/stage.h"
#include "spec/rows/action.h"

namespace ingot {

// What surrounds each pass: who runs stages of a pipeline receives there what the pass reads and
// sends what it wrote. Either may be empty.
struct Borders {
  std::function<void(const Action&)> before = {};
  std::function<void(const Action&)> after = {};
};

// `stages` by Action::stage. The store's order of uses and a slot's input are the caller's to set.
void run_actions(std::span<const Action> actions, std::span<Stage* const> stages,
                 const Borders& borders = {});

}  // namespace ingot
