// stdout and stderr, as somebody reads them.
#pragma once

#include <string>
#include <string_view>

#include "core/error/error.h"

namespace ingot::cli {

// From now on stdout and stderr show a terminal only text that it does not obey
// (core/text/printable.h), other readers get the bytes as they are; and what cannot be written to
// stderr is lost without an error, since a run may outlive its terminal.
void open_console();

// Throws stdout_error() when something that was written to stdout did not arrive.
void finish_stdout();

// ErrorCode::Storage; `reason` is an errno, 0 where it is not known.
Error stdout_error(int reason);

// Whether stdout is a pipe that nobody reads any more.
bool is_stdout_abandoned();

// Whether stderr is a terminal where a line can be written over (not TERM=dumb).
bool is_stderr_live();

// Text that a terminal does not obey, on one line.
std::string one_line(std::string_view text);

// The width of the terminal's window, asked for anew each time; else COLUMNS, else 80.
int columns_of(int descriptor);

}  // namespace ingot::cli
