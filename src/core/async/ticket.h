// A ticket for issued work: others wait for it or order their own work after it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace ingot {

class StreamEvent;  // core/async/stream_event.h

// The state behind a ticket. A lane creates it in mark() and settles it once, from whichever thread
// runs the work. Thread-safe.
class PendingWork {
 public:
  explicit PendingWork(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }

  // The host's part is done. `event` is reached when the device's part is done; null: it is done.
  void settle(std::shared_ptr<StreamEvent> event);
  void fail(std::exception_ptr failure);

  // Waits until it is settled; throws if the work failed. Null: the work is done.
  StreamEvent* settled() const;

 private:
  const std::string name_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool settled_ = false;
  std::exception_ptr failure_;
  std::shared_ptr<StreamEvent> event_;
};

// Cheap to copy; copies refer to the same work. A default ticket refers to none and is done.
class Ticket {
 public:
  Ticket() = default;
  explicit Ticket(std::shared_ptr<PendingWork> work) : work_(std::move(work)) {}

  // The host waits until the work is done. If the work failed, throws its error, which names the
  // work. Work marked during a CUDA stream capture cannot be waited for; only lanes can be ordered
  // after it.
  void wait() const;

  // Waits until the host's part is done; throws if the work failed. Null: all of it is done.
  StreamEvent* settled() const { return work_ ? work_->settled() : nullptr; }

 private:
  std::shared_ptr<PendingWork> work_;
};

// Total time the calling thread has waited for tickets.
std::chrono::steady_clock::duration waited_for_tickets();

}  // namespace ingot
