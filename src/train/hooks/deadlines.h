// How long ranks wait for each other, as the settings say.
#pragma once

#include "parallel/comm/deadlines.h"
#include "spec/run/run_config.h"

namespace ingot {

Deadlines deadlines_of(const SystemConfig& system);

}  // namespace ingot
