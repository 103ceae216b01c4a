// Commands of Open MPI for tests.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

namespace ingot::test {

// mpirun with `options`, before the program's words.
inline std::vector<std::string> mpirun(const std::vector<std::string>& options) {
  std::vector<std::string> words = {"mpirun", "--allow-run-as-root"};
#ifdef INGOT_SANITIZED
  // Open MPI leaves memory behind in parts that it has unloaded by then, which no suppression can
  // name.
  const char* set = std::getenv("ASAN_OPTIONS");
  words.insert(words.begin(), {"env", std::string("ASAN_OPTIONS=") + (set != nullptr ? set : "") +
                                          ":detect_leaks=0"});
  words.insert(words.end(), {"-x", "ASAN_OPTIONS"});
#endif
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

inline std::vector<std::string> mpirun(int ranks) {
  return mpirun({"--oversubscribe", "-n", std::to_string(ranks)});
}

}  // namespace ingot::test
