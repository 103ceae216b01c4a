// Commands of Open MPI for tests.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

namespace ingot::test {

// What a command that starts ranks of Open MPI is put behind, and its ranks inherit: nothing but
// under a sanitizer. Open MPI leaves memory behind in parts that it has unloaded by then, which no
// suppression can name.
inline std::vector<std::string> without_leak_check() {
#ifdef INGOT_SANITIZED
  const char* set = std::getenv("ASAN_OPTIONS");
  return {"env", std::string("ASAN_OPTIONS=") + (set != nullptr ? set : "") + ":detect_leaks=0"};
#else
  return {};
#endif
}

// mpirun with `options`, before the program's words.
inline std::vector<std::string> mpirun(const std::vector<std::string>& options) {
  std::vector<std::string> words = without_leak_check();
  const bool sets_environment = !words.empty();
  words.insert(words.end(), {"mpirun", "--allow-run-as-root"});
  if (sets_environment) {  // on other hosts too
    words.insert(words.end(), {"-x", "ASAN_OPTIONS"});
    if (std::getenv("TSAN_OPTIONS") != nullptr) words.insert(words.end(), {"-x", "TSAN_OPTIONS"});
  }
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

inline std::vector<std::string> mpirun(int ranks) {
  return mpirun({"--oversubscribe", "-n", std::to_string(ranks)});
}

}  // namespace ingot::test
