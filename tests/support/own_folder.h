// Where the running test may write.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace ingot::testing_support {

// A path, where nothing is yet, for this test in this process alone: another checkout's tests may
// run on the machine. Who creates it removes it.
inline std::filesystem::path own_folder() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + "_" + test->name();
  std::replace(name.begin(), name.end(), '/', '_');  // of tests with parameters
  return std::filesystem::path(::testing::TempDir()) /
         ("ingot_" + std::to_string(::getpid()) + "_" + name);
}

}  // namespace ingot::testing_support
