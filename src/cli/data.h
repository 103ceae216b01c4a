// The commands below `ingot data`, one per file of this folder.
#pragma once

#include <CLI/CLI.hpp>

namespace ingot::cli {}  // namespace ingot::cli
