// Ends a process whose run has lost a rank and whose main thread does not return, for example from
// a call of a driver.
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "parallel/comm/watch.h"

namespace ingot::cli {

// While it lives, it calls `lost` now and then. If `lost` returns why the run is over and the
// watchdog still lives `grace` later, the process ends with exit code 4. It prints why, what this
// rank did last, and the stack of the thread that made the watchdog. An error that is thrown
// destroys the watchdog in time.
class Watchdog {
 public:
  using Lost = std::function<std::optional<std::string>()>;
  Watchdog(Lost lost, const Watch& watch, std::chrono::milliseconds grace);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void guard();
  [[noreturn]] void end_process(const std::string& why) const;

  Lost lost_;
  const Watch& watch_;
  std::chrono::milliseconds grace_;
  pthread_t guarded_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace ingot::cli
