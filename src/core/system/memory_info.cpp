#include "core/system/memory_info.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

namespace ingot {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

int64_t read_number(const char* path, int64_t otherwise) {
  std::ifstream file(path);
  int64_t value = 0;
  return file >> value ? value : otherwise;  // "max" does not parse: no limit
}

// The number that follows `key` in a file of "key number …" lines.
int64_t read_field(const char* path, std::string_view key, int64_t otherwise) {
  std::ifstream file(path);
  std::string word;
  int64_t value = 0;
  while (file >> word >> value) {
    if (word == key) return value;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return otherwise;
}

int64_t free_in_cgroup() {
  const int64_t limit = read_number("/sys/fs/cgroup/memory.max", kUnlimited);
  if (limit == kUnlimited) return kUnlimited;
  const int64_t used = read_number("/sys/fs/cgroup/memory.current", 0);
  // The group's page cache counts as used but is released on demand.
  const int64_t cache = read_field("/sys/fs/cgroup/memory.stat", "inactive_file", 0);
  return std::max<int64_t>(0, limit - used + cache);
}

}  // namespace

int64_t available_memory_bytes() {
  const int64_t kib = read_field("/proc/meminfo", "MemAvailable:", kUnlimited / 1024);
  return std::min(kib * 1024, free_in_cgroup());
}

}  // namespace ingot
