// What `--help` prints about a command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/command_line.h"

namespace ingot::cli {

// No line is longer than `columns`, unless a single word is.
std::string help_text(const Command& command, int columns);

// The parts of the help, for other layouts.
std::string usage_of(const Command& command);  // "ingot data clean [OPTIONS] INPUT…"
struct HelpRow {
  std::string left, right;  // "-n, --name TEXT", its description
};
std::vector<HelpRow> argument_rows(const Command& command);  // the positional ones
std::vector<HelpRow> option_rows(const Command& command);    // its own and those of parents
// Joins the lines of each paragraph of a footer. Lines that begin with a space are examples and
// stay.
std::string reflowed(std::string_view text);
extern const std::string_view kExitCodes;

// Prints the help on stdout, as wide as the window.
void print_help(const Command& command);

}  // namespace ingot::cli
