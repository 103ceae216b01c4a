#include "cli/start/signals.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include "core/error/error.h"
#include "core/storage/mapped_file.h"

// Handlers call only what POSIX lists as async-signal-safe, and share lock-free atomics.
namespace ingot::cli {
namespace {

constexpr std::array kRunSignals = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP};

std::atomic<bool> stop_asked{false}, save_asked{false}, interrupted{false}, answered{true};
std::atomic<bool> ranks_met{false};
static_assert(std::atomic<bool>::is_always_lock_free);

// Known before a handler needs it: a terminal that is gone does not say that it was one.
std::array<bool, 3> is_terminal{};  // stdin, stdout, stderr
std::array<struct sigaction, kRunSignals.size()> before_run{};

void write_stderr(std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (::write(STDERR_FILENO, part.data(), part.size()) < 0) return;
  }
}

std::string_view answer_to(int number) {
  switch (number) {
    case SIGINT:
      return "ingot: SIGINT: the run is saved after this step and stops; a second one ends it\n";
    case SIGTERM:
      return "ingot: SIGTERM: the run is saved after this step and stops; a second one ends it\n";
    case SIGUSR1:
      return "ingot: SIGUSR1: the run is saved after this step and stops\n";
    case SIGUSR2:
      return "ingot: SIGUSR2: the run is saved after this step and continues\n";
    default:
      return "ingot: SIGHUP: the terminal is gone, the run continues\n";
  }
}

// What the run writes to the terminal from now on is lost, and no error.
void leave_terminal() {
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (nowhere >= 0 && is_terminal[static_cast<size_t>(descriptor)]) ::dup2(nowhere, descriptor);
  }
  if (nowhere > STDERR_FILENO) ::close(nowhere);
}

void on_run_signal(int number) {
  const int before = errno;
  const bool impatient = number == SIGINT || number == SIGTERM;
  // A live progress line stands on a terminal.
  if (is_terminal[STDERR_FILENO] && answered) write_stderr({"\n"});
  const bool is_early = !ranks_met && (impatient || number == SIGUSR1);
  if (is_early || (impatient && interrupted.exchange(true))) {
    if (is_early)
      write_stderr({"ingot: ended by a signal before all ranks had come; nothing was begun\n"});
    else
      write_stderr({"ingot: ended by a second signal; what was saved before is good\n"});
    std::signal(number, SIG_DFL);
    std::raise(number);  // once this handler returns
  } else {
    if (number == SIGHUP) leave_terminal();
    if (answered) write_stderr({answer_to(number)});
    if (number == SIGUSR2) save_asked.store(true);
    if (number != SIGUSR2 && number != SIGHUP) stop_asked.store(true);
  }
  errno = before;
}

std::atomic<int> interruption{0};  // the signal that came
std::array<struct sigaction, 3> before_interruption{};
constexpr std::array kInterruptions = {SIGINT, SIGTERM, SIGHUP};

void on_interruption(int number) {
  int none = 0;
  if (interruption.compare_exchange_strong(none, number)) return;
  std::signal(number, SIG_DFL);
  std::raise(number);  // once this handler returns
}

void on_bus_error(int number, siginfo_t* info, void* /*context*/) {
  const Mapping mapping = mapping_at(info->si_addr);
  if (mapping.path == nullptr) {  // not a file: as without this handler, at the same instruction
    std::signal(number, SIG_DFL);
    return;
  }
  struct stat facts {};
  const bool shortened =
      ::stat(mapping.path, &facts) != 0 || static_cast<size_t>(facts.st_size) < mapping.size;
  write_stderr({"ingot: ", mapping.path,
                shortened ? " was shortened while it was being read; give it its contents back and "
                            "run again\n"
                          : " cannot be read: check the disk\n"});
  ::_exit(EXIT_FAILURE);
}

}  // namespace

void prepare_process() {
  // Opened the wrong way round, so that to use one is an error, as it is when it is closed.
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) == -1)
      ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, nullptr);
}

RunSignals::RunSignals(bool answers) {
  stop_asked = save_asked = interrupted = ranks_met = false;
  answered = answers;
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    is_terminal[static_cast<size_t>(descriptor)] = ::isatty(descriptor) == 1;
  struct sigaction action {};
  action.sa_handler = on_run_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kRunSignals.size(); ++i)
    ::sigaction(kRunSignals[i], &action, &before_run[i]);
}

RunSignals::~RunSignals() {
  for (size_t i = 0; i < kRunSignals.size(); ++i)
    ::sigaction(kRunSignals[i], &before_run[i], nullptr);
}

Interruption::Interruption() {
  interruption = 0;
  struct sigaction action {};
  action.sa_handler = on_interruption;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kInterruptions.size(); ++i) {
    ::sigaction(kInterruptions[i], nullptr, &before_interruption[i]);
    // Started with nohup, it is to continue.
    if (before_interruption[i].sa_handler != SIG_IGN)
      ::sigaction(kInterruptions[i], &action, nullptr);
  }
}

Interruption::~Interruption() {
  for (size_t i = 0; i < kInterruptions.size(); ++i)
    ::sigaction(kInterruptions[i], &before_interruption[i], nullptr);
  if (interruption != 0) std::raise(interruption);
}

void Interruption::throw_if_asked() const {
  check(interruption == 0, ErrorCode::Storage, "ended by signal {}", interruption.load());
}

void RunSignals::ranks_have_met() {
  ranks_met = true;
}

const std::atomic<bool>* RunSignals::stop() const {
  return &stop_asked;
}

std::atomic<bool>* RunSignals::save() const {
  return &save_asked;
}

}  // namespace ingot::cli
