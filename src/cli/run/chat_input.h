// Reads lines from the terminal, and Ctrl-C.
#pragma once

#include <csignal>
#include <optional>
#include <string>

namespace ingot::cli {

// While it lives, Ctrl-C is an event that waits to be taken. Only one object at a time.
class CtrlC {
 public:
  CtrlC();
  ~CtrlC();
  CtrlC(const CtrlC&) = delete;
  CtrlC& operator=(const CtrlC&) = delete;

  bool take();                    // whether it was pressed since the last call
  int fd() const { return fd_; }  // readable while take() would be true

 private:
  int fd_;
  struct sigaction before_ {};
};

class ChatInput {
 public:
  explicit ChatInput(CtrlC& ctrl_c) : ctrl_c_(ctrl_c) {}

  // The next line, without its end; nothing at the end of the input. A line whose last character is
  // a backslash continues in the next one. Ctrl-C drops what was typed and starts a new line.
  // `prompt` is shown on a terminal.
  std::optional<std::string> line(const std::string& prompt);

 private:
  std::optional<std::string> plain_line(const std::string& prompt, bool& dropped);

  CtrlC& ctrl_c_;
  std::string waiting_;
};

}  // namespace ingot::cli
