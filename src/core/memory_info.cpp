#include "core/memory_info.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace ingot {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

int64_t read_number(const char* path, int64_t otherwise) {
  std::ifstream file(path);
  int64_t value = 0;
  return file >> value ? value : otherwise;  // "max" does not parse: no limit
}

int64_t meminfo_available() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  int64_t kibibytes = 0;
  while (file >> key >> kibibytes) {
    if (key == "MemAvailable:") return kibibytes * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return kUnlimited;
}

}  // namespace

int64_t available_memory_bytes() {
  const int64_t limit = read_number("/sys/fs/cgroup/memory.max", kUnlimited);
  const int64_t used = read_number("/sys/fs/cgroup/memory.current", 0);
  const int64_t in_group = limit == kUnlimited ? kUnlimited : std::max<int64_t>(0, limit - used);
  return std::min(meminfo_available(), in_group);
}

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total_pages = 0, resident_pages = 0;
  file >> total_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

}  // namespace ingot
