// Lengths in tokens that were meant as steps.
#pragma once

#include <string>

#include "spec/run/run_config.h"

namespace ingot {

// Which lengths end before a step does, so that the run would go as if they were not set, and what
// to write instead; empty where there are none. Fractions of the run are not among them: they are
// meant to shrink with it.
std::string lengths_below_a_step(const RunConfig& config);

}  // namespace ingot
