// Compares a resumed run's learning rates with those that were planned for it.
#pragma once

#include <optional>
#include <string>

#include "spec/run/run_length.h"

namespace ingot {

// A run saved at `at` was planned by `saved` and is to continue by `wanted`. Returns the first step
// whose rates differ, both rates and the settings that changed them, or nothing if the remaining
// steps are as planned. A finished run was planned to stay at its last rate.
std::optional<std::string> schedule_change(const RunConfig& saved, const RunConfig& wanted,
                                           const Progress& at);

}  // namespace ingot
