// What signals do to the program.
#pragma once

#include <atomic>

namespace ingot::cli {

// For the whole process, before it opens anything:
// - a write that a signal would answer (SIGPIPE, SIGXFSZ) fails with an error instead;
// - a file that is shortened while it is mapped (SIGBUS) is named before the process ends;
// - stdin, stdout and stderr that the caller closed stay closed: no file takes their place.
void prepare_process();

// While it lives, signals speak to a run:
// - SIGINT, SIGTERM and SIGUSR1 ask it to save and stop; a second SIGINT or SIGTERM ends it
//   at once;
// - SIGUSR2 asks it to save and continue;
// - SIGHUP lets it continue without its terminal.
// Each is acknowledged on stderr at once, where `answers`. Until the ranks have met there is
// nothing to save: the first three end the process at once. One at a time.
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

// While it lives, SIGINT, SIGTERM and SIGHUP wait until what a command began is undone; a second
// one ends the process at once. One at a time, and not beside RunSignals.
class Interruption {
 public:
  Interruption();
  ~Interruption();  // where one came, ends the process by it
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  void throw_if_asked() const;  // ErrorCode::Storage, which nobody gets to read. Thread-safe
};

}  // namespace ingot::cli
