// Reads the configuration of a cleaning job.
#pragma once

#include <string>
#include <string_view>

#include "ingest/clean/settings.h"

namespace ingot {

// Applies the preset, then the TOML text, then the overrides. Throws ErrorCode::Config, also for
// options of a disabled filter.
CleanSettings parse_clean_config(std::string_view toml, std::string_view origin,
                                 const Overrides& overrides);
std::string to_toml(const CleanSettings& settings);  // every setting; parses back to the same

}  // namespace ingot
