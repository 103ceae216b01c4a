// The program on a terminal of its own.
#pragma once

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/process.h"

namespace ingot::test {

class Terminal {
 public:
  // `environment`: NAME=VALUE, besides what the test has.
  Terminal(const std::vector<std::string>& args, unsigned short columns,
           const std::vector<std::string>& environment = {"TERM=xterm"}) {
    winsize window{24, columns, 0, 0};
    pid_ = forkpty(&terminal_, nullptr, nullptr, &window);
    if (pid_ == 0) {
      std::vector<std::string> words = {"env"};
      words.insert(words.end(), environment.begin(), environment.end());
      words.push_back(program());
      words.insert(words.end(), args.begin(), args.end());
      std::vector<char*> argv;
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      execvp(argv[0], argv.data());
      _exit(127);
    }
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    if (pid_ > 0) kill(pid_, SIGKILL), wait();
    if (terminal_ >= 0) close(terminal_);
  }

  // All that it writes until it ends.
  std::string read() {
    std::string text;
    char bytes[4096];
    for (ssize_t got = 0; (got = ::read(terminal_, bytes, sizeof(bytes))) > 0;)
      text.append(bytes, static_cast<size_t>(got));
    return text;
  }
  // Until `end` has come; all that was written before it, and it. Nothing more: less.
  std::string read_until(const std::string& end) {
    char bytes[4096];
    while (waiting_.find(end) == std::string::npos) {
      const ssize_t got = ::read(terminal_, bytes, sizeof(bytes));
      if (got <= 0) return std::exchange(waiting_, {});
      waiting_.append(bytes, static_cast<size_t>(got));
    }
    const size_t size = waiting_.find(end) + end.size();
    std::string text = waiting_.substr(0, size);
    waiting_.erase(0, size);
    return text;
  }
  // As if somebody typed it: "\x03" is Ctrl-C, "\x04" Ctrl-D.
  void type(std::string_view keys) {
    while (!keys.empty()) {
      const ssize_t count = ::write(terminal_, keys.data(), keys.size());
      if (count <= 0) return;
      keys.remove_prefix(static_cast<size_t>(count));
    }
  }
  // The terminal goes away; how the program ends then.
  int hang_up() {
    close(terminal_);
    terminal_ = -1;
    return wait();
  }
  // Exit code, or -signal when it was killed.
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
  int terminal_ = -1;
  std::string waiting_;  // of read_until()
};

}  // namespace ingot::test
