// Cleaning as a user declares it.
#pragma once

#include <string>
#include <string_view>

#include "ingest/clean/settings.h"

namespace ingot {

// The preset, then the TOML text, then the overrides; throws ErrorCode::Config, also for options of
// a filter that is off.
CleanSettings parse_clean_config(std::string_view toml, std::string_view origin,
                                 const Overrides& overrides);
std::string to_toml(const CleanSettings& settings);  // every setting; parses back to the same

}  // namespace ingot
