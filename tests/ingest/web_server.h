// A real HTTP server in a process of its own.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "support/source_path.h"

namespace ingot::testing_support {

// tests/ingest/http_server.py with a folder of files, until the end of the test.
class WebServer {
 public:
  explicit WebServer(const std::string& folder) {
    int out[2];
    EXPECT_EQ(pipe(out), 0);
    process_ = fork();
    if (process_ == 0) {
      dup2(out[1], STDOUT_FILENO);
      close(out[0]);
      execlp("python3", "python3",
             testing_support::source_path("tests/ingest/http_server.py").c_str(), folder.c_str(),
             nullptr);
      _exit(127);
    }
    close(out[1]);
    FILE* file = fdopen(out[0], "r");
    EXPECT_EQ(fscanf(file, "%d", &port_), 1) << "the server did not start";
    fclose(file);
  }
  ~WebServer() { stop(); }
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  void stop() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }
  std::string root() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::string url(const std::string& path) const { return root() + "/" + path; }

 private:
  pid_t process_ = -1;
  int port_ = 0;
};

}  // namespace ingot::testing_support
