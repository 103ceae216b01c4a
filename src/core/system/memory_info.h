// Memory available to this process.
#pragma once

#include <cstdint>

namespace ingot {

// Free bytes of the machine or of the process's memory cgroup, whichever is less; page cache counts
// as free.
int64_t available_memory_bytes();

}  // namespace ingot
