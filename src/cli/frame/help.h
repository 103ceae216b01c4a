// What `--help` says of a command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/command_line.h"

namespace ingot::cli {

// No line is longer than `columns`, as far as its words let it.
std::string help_text(const Command& command, int columns);

// What it consists of, for other layouts of the same.
std::string usage_of(const Command& command);  // "ingot data clean [OPTIONS] INPUT…"
struct HelpRow {
  std::string left, right;  // "-n, --name TEXT", what it is for
};
std::vector<HelpRow> argument_rows(const Command& command);  // the positional ones
std::vector<HelpRow> option_rows(const Command& command);    // those of the commands above it too
// Lines of a footer are one paragraph where nothing separates them; examples begin with a space.
std::string reflowed(std::string_view text);
extern const std::string_view kExitCodes;

// On stdout, as wide as its window.
void print_help(const Command& command);

}  // namespace ingot::cli
