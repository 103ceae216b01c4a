// A program that this one starts and listens to.
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

// Lines of a pipe, as they come.
class LineReader {
 public:
  LineReader() = default;
  explicit LineReader(Descriptor from);

  int descriptor() const { return from_.get(); }  // -1 when it has ended
  // Everything that is there now, without waiting, and at the end what is left without a newline.
  void read(const std::function<void(std::string_view line)>& take);

 private:
  Descriptor from_;
  std::string rest_;
};

struct ChildOptions {
  std::map<std::string, std::string> variables = {};  // besides this process's
  std::string folder = {};                            // to work in; empty: this one
  bool takes_input = false;                           // by a pipe; otherwise it has none
  bool in_new_session = false;                        // signals of this terminal do not reach it
  // Of a variable that gets the number of one more pipe to write to; empty: there is none.
  std::string notes_variable = {};
};

// Its stdout and stderr are pipes. It is killed when the thread that starts it ends.
struct Child {
  pid_t pid = -1;
  Descriptor input;
  LineReader out, err, notes;
};

// Throws ErrorCode::Missing where the program cannot be started, ErrorCode::Storage for a folder
// that is not there. For programs of one thread.
Child start_child(const std::vector<std::string>& words, const ChildOptions& options);

// Writes all of it; false where nobody reads.
bool write_all(int descriptor, std::string_view bytes);

// While it lives, signals of this thread wait in a descriptor instead of arriving. Programs that it
// starts have them as usual.
class SignalQueue {
 public:
  explicit SignalQueue(const std::vector<int>& numbers);
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  int descriptor() const { return descriptor_.get(); }
  std::vector<int> take();  // those that came, without waiting

 private:
  std::vector<int> numbers_;
  Descriptor descriptor_;
};

}  // namespace ingot::cli
