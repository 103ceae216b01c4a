// Starts another program and reads its output.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ingot::cli {

// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close();

 private:
  int number_ = -1;
};

// Reads lines from a pipe without waiting.
class LineReader {
 public:
  LineReader() = default;
  explicit LineReader(Descriptor from);

  int descriptor() const { return from_.get(); }  // -1 when it has ended
  // Calls `take` with each line that is there now, and at the end of the pipe with an unfinished
  // one.
  void read(const std::function<void(std::string_view line)>& take);

 private:
  Descriptor from_;
  std::string rest_;
};

struct ChildOptions {
  std::map<std::string, std::string> variables = {};  // added to this process's environment
  std::string folder = {};                            // working folder; empty: this process's
  bool takes_input = false;                           // stdin is a pipe; otherwise empty
  bool in_new_session = false;                        // the terminal's signals do not reach it
  // Name of a variable that holds the number of one more pipe to write to; empty: no such pipe.
  std::string notes_variable = {};
};

// A started program. Its stdout and stderr are pipes. It is killed when the thread that started it
// ends.
struct Child {
  pid_t pid = -1;
  Descriptor input;
  LineReader out, err, notes;
};

// Throws ErrorCode::Missing if the program cannot be started, ErrorCode::Storage if the folder does
// not exist. Call it only while this process has one thread.
Child start_child(const std::vector<std::string>& words, const ChildOptions& options);

// Writes all bytes; false if the reader has gone.
bool write_all(int descriptor, std::string_view bytes);

// While it lives, signals to this thread wait in a descriptor instead of being delivered. Programs
// that the thread starts get signals as usual.
class SignalQueue {
 public:
  explicit SignalQueue(const std::vector<int>& numbers);
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  int descriptor() const { return descriptor_.get(); }
  std::vector<int> take();  // signals that have come; does not wait

 private:
  std::vector<int> numbers_;
  Descriptor descriptor_;
};

}  // namespace ingot::cli
