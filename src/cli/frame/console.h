// Output to stdout and stderr.
#pragma once

#include <string>
#include <string_view>

#include "core/error/error.h"

namespace ingot::cli {

// From now on, control sequences in stdout and stderr are escaped if the reader is a terminal
// (core/text/printable.h); other readers get the bytes unchanged. Text that cannot be written to
// stderr is dropped without an error, because a run may outlive its terminal.
void open_console();

// Throws stdout_error() if something written to stdout was lost.
void finish_stdout();

// An error with ErrorCode::Storage. `reason` is an errno; 0 if unknown.
Error stdout_error(int reason);

// Whether stdout is a pipe whose reader has gone.
bool is_stdout_abandoned();

// Whether stderr is a terminal that can overwrite a line (not TERM=dumb).
bool is_stderr_live();

// `text` on one line, with control sequences escaped.
std::string one_line(std::string_view text);

// The current width of the terminal's window; without a terminal COLUMNS, else 80.
int columns_of(int descriptor);

}  // namespace ingot::cli
