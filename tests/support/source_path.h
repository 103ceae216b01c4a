// Where the sources lie that the running test program was built of.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include "support/build_folder.h"

namespace ingot::testing_support {

// source_path("tests/golden/x"): the root of the tree is the folder above the build folder that
// holds CMakePresets.json. Found out and not compiled in, as build_folder() is: work trees share
// ccache's objects.
inline std::string source_path(const std::string& file) {
  std::filesystem::path root = build_folder();
  while (!std::filesystem::exists(root / "CMakePresets.json")) {
    if (root == root.parent_path())
      throw std::runtime_error("the build folder does not lie in the tree of sources");
    root = root.parent_path();
  }
  return (root / file).string();
}

}  // namespace ingot::testing_support
