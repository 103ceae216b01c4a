// Where a thread stands.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace ingot {

// Return addresses of the calling thread, the innermost first, without this function's own and
// those of so many of its callers.
std::vector<void*> stack_here(size_t skipped = 0);

// A line for each: "ingot::Loop::meet() + 0x5c (ingot 0x1a2b3c)", the last being what addr2line
// takes. Functions of a program that does not export its names are addresses alone.
std::vector<std::string> stack_lines(std::span<void* const> stack);

}  // namespace ingot
