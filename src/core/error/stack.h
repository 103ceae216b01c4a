// The call stack of a thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace ingot {

// Return addresses of the calling thread, innermost first, without this function's frame and the
// frames of `skipped` callers.
std::vector<void*> stack_here(size_t skipped = 0);

// One line per address: "ingot::Loop::meet() + 0x5c (ingot 0x1a2b3c)"; addr2line takes the last
// number. For a program that does not export its symbols, addresses only.
std::vector<std::string> stack_lines(std::span<void* const> stack);

}  // namespace ingot
