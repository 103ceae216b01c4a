// Detects lengths in tokens that were meant as steps.
#pragma once

#include <string>

#include "spec/run/run_config.h"

namespace ingot {

// The lengths that end within the first step and so have no effect, with what to write instead;
// empty if there are none. Fractions of the run are not reported: they are meant to shrink with it.
std::string lengths_below_a_step(const RunConfig& config);

}  // namespace ingot
