// Programs of others that tests use where they are installed.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>

namespace ingot::test {

// Its path, or "" where it is not installed. Daemons lie where not everyone's PATH goes.
inline std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path == nullptr ? "" : path) + ":/usr/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (const std::string file = folder + "/" + name; access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

}  // namespace ingot::test
