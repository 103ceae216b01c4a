// How much memory this process may still take.
#pragma once

#include <cstdint>

namespace ingot {

// Free bytes of the machine or of the process's memory cgroup, whichever is less; page cache counts
// as free.
int64_t available_memory_bytes();

// Bytes of this process in RAM now.
int64_t resident_bytes();

}  // namespace ingot
