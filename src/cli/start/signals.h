// What signals do to the program.
#pragma once

#include <atomic>

namespace ingot::cli {

// For the whole process, before it opens anything:
// - a write that would raise a signal (SIGPIPE, SIGXFSZ) fails with an error instead;
// - if a file is shortened while it is mapped (SIGBUS), the process names it before it ends;
// - stdin, stdout and stderr that the caller closed stay closed: no file gets their numbers.
void prepare_process();

// While it lives, signals control a run:
// - SIGINT, SIGTERM and SIGUSR1 ask it to save and stop; a second SIGINT or SIGTERM ends it
//   at once;
// - SIGUSR2 asks it to save and continue;
// - SIGHUP lets it continue without its terminal.
// If `answers`, each is acknowledged on stderr at once. Until the ranks have connected there is
// nothing to save, and SIGINT, SIGTERM and SIGUSR1 end the process at once. Only one object at a
// time.
class RunSignals {
 public:
  explicit RunSignals(bool answers = true);
  ~RunSignals();
  RunSignals(const RunSignals&) = delete;
  RunSignals& operator=(const RunSignals&) = delete;

  static void ranks_have_met();
  const std::atomic<bool>* stop() const;
  std::atomic<bool>* save() const;  // for the run to take back
};

// While it lives, SIGINT, SIGTERM and SIGHUP wait until the command has undone what it began; a
// second signal ends the process at once. Only one object at a time, and not together with
// RunSignals.
class Interruption {
 public:
  Interruption();
  ~Interruption();  // if a signal came, ends the process by it
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  void throw_if_asked() const;  // ErrorCode::Storage, which nobody gets to read. Thread-safe
};

}  // namespace ingot::cli
