// The commands below `ingot data`, one per file of this folder.
#pragma once

#include <CLI/CLI.hpp>

namespace ingot::cli {

void add_data_seen(CLI::App& data);

}  // namespace ingot::cli
