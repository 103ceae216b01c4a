// Remembers in system.cache_dir how fast runs were on this machine, by their settings.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "plan/resolved_run.h"

namespace ingot::cli {

// Stores the speed under the settings that decide it and the device. A cache that cannot be written
// is ignored: it is only used for estimates.
void remember_speed(const ResolvedRun& run, double tokens_per_second);

// The speed of the last run or bench with these settings on this machine.
std::optional<double> remembered_speed(const ResolvedRun& run);

// "time     about 12 min 05 s at 31,200 tok/s, as the last such run here", or that it is unknown.
std::string time_text(const ResolvedRun& run, int64_t tokens);

// The same as "tok_s" and "seconds"; null if unknown.
void add_time(nlohmann::json& line, const ResolvedRun& run, int64_t tokens);

}  // namespace ingot::cli
