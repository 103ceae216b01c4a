// Commands of Open MPI for tests.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
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

// Where mpirun keeps its sessions. Of two that begin at once on a fresh machine one fails to make
// the folder that they would share. The path is short, for those of sockets in it.
inline const std::string& session_folder() {
  struct Folder {
    const std::string path = "/tmp/ingot_mpi_" + std::to_string(::getpid());
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() { std::filesystem::remove_all(path); }
  };
  static const Folder folder;
  return folder.path;
}

// mpirun with `options`, before the program's words.
inline std::vector<std::string> mpirun(const std::vector<std::string>& options) {
  std::vector<std::string> words = without_leak_check();
  const bool sets_environment = !words.empty();
  words.insert(words.end(),
               {"mpirun", "--allow-run-as-root", "--mca", "orte_tmpdir_base", session_folder()});
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
