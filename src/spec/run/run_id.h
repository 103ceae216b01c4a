// Which run it is: 128 random bits as 32 hexadecimal digits, drawn when it begins. In its run.toml,
// in the starts of its ledger and in its checkpoints; no hash and no comparison of runs knows it.
#pragma once

#include <string>
#include <string_view>

#include "spec/run/run_config.h"
#include "spec/settings/settings.h"

namespace ingot {

std::string draw_run_id();

// Every setting, and the table [run] that says which run it is. parse_run_config() passes over
// that: a recipe that is made of the settings is another run.
std::string to_toml(const RunConfig& config, const std::string& run_id);
// What such a text says of it; empty where it does not. Throws as parse_run_config().
std::string run_id_of(std::string_view toml, std::string_view origin);

// The row run.id of such a text. No setting: it can be in a file, and no --set changes it.
inline constexpr std::string_view kRunIdName = "run.id";
Setting run_id_row(std::string& id);

}  // namespace ingot
