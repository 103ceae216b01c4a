#include "cli/launch/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "core/error/error.h"

namespace ingot::cli {
namespace {

constexpr size_t kLongestLine = 1 << 16;

struct Pipe {
  Descriptor read, write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  check(::pipe2(ends.data(), O_CLOEXEC) == 0, ErrorCode::Storage, "cannot make a pipe: {}",
        std::strerror(errno));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

enum class Step : char { Folder, Program };

struct Ends {
  int input = -1, out = -1, err = -1, notes = -1, report = -1;
};

// In the child, until exec; ends.report tells the parent what failed.
[[noreturn]] void become(const std::vector<std::string>& words, const ChildOptions& options,
                         pid_t parent, const Ends& ends) {
  const auto fail = [&](Step step) {
    const int reason = errno;
    std::array<char, 1 + sizeof(reason)> text{static_cast<char>(step)};
    std::memcpy(text.data() + 1, &reason, sizeof(reason));
    write_all(ends.report, {text.data(), text.size()});
    ::_exit(127);
  };
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // which ended before the line above
  if (options.in_new_session) ::setsid();
  ::dup2(ends.input, STDIN_FILENO);
  ::dup2(ends.out, STDOUT_FILENO);
  ::dup2(ends.err, STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) fail(Step::Folder);
  for (const auto& [name, value] : options.variables) ::setenv(name.c_str(), value.c_str(), 1);
  if (ends.notes >= 0) {
    ::fcntl(ends.notes, F_SETFD, 0);  // stays open
    ::setenv(options.notes_variable.c_str(), std::to_string(ends.notes).c_str(), 1);
  }
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  fail(Step::Program);
  ::_exit(127);
}

sigset_t set_of(const std::vector<int>& numbers) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) sigaddset(&set, number);
  return set;
}

}  // namespace

void Descriptor::close() {
  if (is_open()) ::close(std::exchange(number_, -1));
}

LineReader::LineReader(Descriptor from) : from_(std::move(from)) {
  ::fcntl(from_.get(), F_SETFL, ::fcntl(from_.get(), F_GETFL) | O_NONBLOCK);
}

void LineReader::read(const std::function<void(std::string_view line)>& take) {
  std::array<char, 1 << 14> buffer{};
  while (from_.is_open()) {
    const ssize_t got = ::read(from_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (got <= 0) {
      from_.close();
      if (!rest_.empty()) take(rest_);
      rest_.clear();
      return;
    }
    rest_.append(buffer.data(), static_cast<size_t>(got));
    size_t begin = 0;
    for (size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1)
      take(std::string_view(rest_).substr(begin, end - begin));
    rest_.erase(0, begin);
    if (rest_.size() < kLongestLine) continue;
    take(rest_);
    rest_.clear();
  }
}

Child start_child(const std::vector<std::string>& words, const ChildOptions& options) {
  Pipe out = make_pipe(), err = make_pipe(), report = make_pipe(), input, notes;
  if (!options.notes_variable.empty()) notes = make_pipe();
  if (options.takes_input)
    input = make_pipe();
  else
    input.read = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const pid_t parent = ::getpid();
  Child child;
  child.pid = ::fork();
  check(child.pid >= 0, ErrorCode::Missing, "cannot start {}: {}", words[0], std::strerror(errno));
  if (child.pid == 0)
    become(words, options, parent,
           {.input = input.read.get(),
            .out = out.write.get(),
            .err = err.write.get(),
            .notes = notes.write.get(),
            .report = report.write.get()});
  report.write.close();
  std::array<char, 1 + sizeof(int)> failed{};
  ssize_t got = 0;
  do got = ::read(report.read.get(), failed.data(), failed.size());
  while (got < 0 && errno == EINTR);
  int reason = 0;
  std::memcpy(&reason, failed.data() + 1, sizeof(reason));
  const bool no_folder = failed[0] == static_cast<char>(Step::Folder);
  check(got <= 0 || !no_folder, ErrorCode::Storage, "cannot work in {}: {}", options.folder,
        std::strerror(reason));
  check(got <= 0, ErrorCode::Missing, "cannot start {}: {}", words[0], std::strerror(reason));
  child.input = std::move(input.write);
  child.out = LineReader(std::move(out.read));
  child.err = LineReader(std::move(err.read));
  if (notes.read.is_open()) child.notes = LineReader(std::move(notes.read));
  return child;
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

SignalQueue::SignalQueue(const std::vector<int>& numbers) : numbers_(numbers) {
  const sigset_t set = set_of(numbers);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  descriptor_ = Descriptor(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
}

SignalQueue::~SignalQueue() {
  const sigset_t set = set_of(numbers_);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

std::vector<int> SignalQueue::take() {
  std::vector<int> came;
  signalfd_siginfo info{};
  while (::read(descriptor_.get(), &info, sizeof(info)) == sizeof(info))
    came.push_back(static_cast<int>(info.ssi_signo));
  return came;
}

}  // namespace ingot::cli
