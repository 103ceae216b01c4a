// Whether a resumed run goes on at the learning rates that were planned for it.
#pragma once

#include <optional>
#include <string>

#include "spec/run/run_length.h"

namespace ingot {

// A run saved after `at` was to go on as `saved` says and shall go on as `wanted` says: the first
// step whose rates differ, with both and the settings that did it. Nothing where the remaining
// steps are as planned. A run that was at its end was planned to stay at its last rate.
std::optional<std::string> schedule_change(const RunConfig& saved, const RunConfig& wanted,
                                           const Progress& at);

}  // namespace ingot
