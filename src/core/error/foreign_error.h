// Translates library exceptions, whose messages are written for programmers.
#pragma once

#include <exception>

#include "core/error/error.h"

namespace ingot {

// A library's exception as an Error. The library's own text goes to the log at level debug.
Error translated(const std::exception& foreign);

}  // namespace ingot
