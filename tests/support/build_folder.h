// Where the running test program was built.
#pragma once

#include <filesystem>

namespace ingot::testing_support {

// <folder>/bin/test_x is running. Found out and not compiled in: an object that names its build
// folder is compiled again for each of them, where ccache would know it.
inline std::filesystem::path build_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

}  // namespace ingot::testing_support
