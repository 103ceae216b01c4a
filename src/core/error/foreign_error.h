// Exceptions of libraries, which speak to programmers.
#pragma once

#include <exception>

#include "core/error/error.h"

namespace ingot {

// What a library threw, as an error of ours; its own text goes to the log, at level debug.
Error translated(const std::exception& foreign);

}  // namespace ingot
