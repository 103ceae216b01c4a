// What `--help` says of a command.
#pragma once

#include <string>

#include "cli/frame/command_line.h"

namespace ingot::cli {

// No line is longer than `columns`, as far as its words let it.
std::string help_text(const Command& command, int columns);

// On stdout, as wide as its window.
void print_help(const Command& command);

}  // namespace ingot::cli
