// Runs the built program as a user would and collects what it said.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "support/build_folder.h"

namespace ingot::test {

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();  // a file of /proc ends where its process does: that is no exception here
  return text.str();
}

// The program under test: $INGOT_PROGRAM, so that tests can be shown another build, or the one
// built beside them.
inline std::string program() {
  const char* other = std::getenv("INGOT_PROGRAM");
  return other != nullptr ? other : testing_support::build_folder() / "ingot";
}

// A started `LAUNCHER… ingot ARGS…`, its output going to files in `folder`.
class Process {
 public:
  Process(const std::vector<std::string>& args, const std::filesystem::path& folder,
          const std::vector<std::string>& launcher = {})
      : Process(folder, command(launcher, args)) {}
  // Any program, by its name or path.
  Process(const std::filesystem::path& folder, std::vector<std::string> words)
      : out_(folder / "stdout.txt"), err_(folder / "stderr.txt") {
    // Empty from the start: what an earlier process said must not be read as this one's.
    for (const auto& path : {out_, err_}) std::ofstream(path, std::ios::trunc);
    pid_ = fork();
    if (pid_ == 0) {
      redirect(out_, STDOUT_FILENO);
      redirect(err_, STDERR_FILENO);
      setenv("XDG_CACHE_HOME", (folder / ".cache").c_str(), 1);  // nothing in the user's own
      std::vector<char*> argv;
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      execvp(argv[0], argv.data());
      _exit(127);
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (pid_ > 0) signal(SIGKILL), wait();
  }

  pid_t pid() const { return pid_; }
  void signal(int number) const { kill(pid_, number); }
  // Exit code, or -signal when it was killed.
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  bool is_running() const {
    siginfo_t ended{};  // WNOWAIT: wait() still gets the status
    return waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0;
  }
  std::string out() const { return slurp(out_); }
  std::string err() const { return slurp(err_); }

 private:
  static std::vector<std::string> command(std::vector<std::string> words,
                                          const std::vector<std::string>& args) {
    words.push_back(program());
    words.insert(words.end(), args.begin(), args.end());
    return words;
  }
  static void redirect(const std::filesystem::path& path, int descriptor) {
    const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644);
    dup2(file, descriptor);
  }

  pid_t pid_ = -1;
  std::filesystem::path out_, err_;
};

struct Outcome {
  int code = 0;
  std::string out, err;
};

inline Outcome run_ingot(const std::vector<std::string>& args,
                         const std::filesystem::path& folder) {
  Process process(args, folder);
  const int code = process.wait();
  return {code, process.out(), process.err()};
}

}  // namespace ingot::test
