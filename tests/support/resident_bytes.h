#pragma once

#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace ingot::testing_support {

// Of this process.
inline int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total_pages = 0, resident_pages = 0;
  file >> total_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

}  // namespace ingot::testing_support
