// Files in memory under names in a temporary folder, for readers that want paths: each name is a
// link to /proc/self/fd/N. Writing real files would take a hundred times as long.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ingot::fuzz {

class MemoryFiles {
 public:
  explicit MemoryFiles(const std::vector<std::string>& names)
      : folder_(std::filesystem::temp_directory_path() /
                ("ingot_fuzz_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    for (const std::string& name : names) {
      const int file = memfd_create(name.c_str(), MFD_CLOEXEC);
      if (file < 0) abort();
      std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(file), folder_ / name);
      files_[name] = file;
    }
  }
  ~MemoryFiles() { std::filesystem::remove_all(folder_); }
  MemoryFiles(const MemoryFiles&) = delete;
  MemoryFiles& operator=(const MemoryFiles&) = delete;

  std::string folder() const { return folder_; }
  // Replaces what the file holds; returns its path.
  std::string write(const std::string& name, const std::string& bytes) const {
    const int file = files_.at(name);
    const auto size = static_cast<ssize_t>(bytes.size());
    if (ftruncate(file, 0) != 0 || pwrite(file, bytes.data(), bytes.size(), 0) != size) abort();
    return folder_ / name;
  }

 private:
  std::filesystem::path folder_;
  std::map<std::string, int> files_;
};

}  // namespace ingot::fuzz
