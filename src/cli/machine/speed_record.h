// How fast runs of given settings were on this machine, remembered in system.cache_dir.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "plan/resolved_run.h"

namespace ingot::cli {

// The record of settings that decide a run's speed, on the device they choose. A cache that cannot
// be written is passed over: it serves estimates alone.
void remember_speed(const ResolvedRun& run, double tokens_per_second);

// Of the last run or bench of these settings here.
std::optional<double> remembered_speed(const ResolvedRun& run);

// "time     about 12 min 05 s at 31,200 tok/s, as the last such run here", or that it is not known.
std::string time_text(const ResolvedRun& run, int64_t tokens);

// The same as "tok_s" and "seconds", null where not known.
void add_time(nlohmann::json& line, const ResolvedRun& run, int64_t tokens);

}  // namespace ingot::cli
