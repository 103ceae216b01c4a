// A rank that is a process of its own, to be stopped or killed.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace ingot::test {

// Made while the test has no other threads: the child has only the one that made it.
class ChildRank {
 public:
  explicit ChildRank(const std::function<void()>& body) : pid_(fork()) {
    if (pid_ != 0) return;
    try {
      body();
      _exit(0);
    } catch (...) {
      _exit(1);
    }
  }
  ~ChildRank() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  ChildRank(const ChildRank&) = delete;
  ChildRank& operator=(const ChildRank&) = delete;

  void send(int signal) const { kill(pid_, signal); }

 private:
  pid_t pid_;
};

}  // namespace ingot::test
