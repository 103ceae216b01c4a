// Work in flight: what a lane hands out, so that others can wait for it or be ordered behind it.
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

// What a ticket speaks of. A lane makes it when work is marked and settles it once, from whatever
// thread carries the work out. Thread-safe.
class PendingWork {
 public:
  explicit PendingWork(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }

  // The host has done its part. `event`: when the device is done too; null: it is.
  void settle(std::shared_ptr<StreamEvent> event);
  void fail(std::exception_ptr failure);

  // Waits until it is settled and throws what it failed with. Null: the work is done.
  StreamEvent* settled() const;
  bool done() const;

 private:
  const std::string name_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool settled_ = false;
  std::exception_ptr failure_;
  std::shared_ptr<StreamEvent> event_;
};

// Cheap to copy; copies speak of the same work. A default one speaks of none: it is done.
class Ticket {
 public:
  Ticket() = default;
  explicit Ticket(std::shared_ptr<PendingWork> work) : work_(std::move(work)) {}

  const std::string& name() const;  // empty for the default one
  bool done() const;                // does not wait; work that failed is done
  // The host waits until the work is done; throws what it failed with, which names it. Work that
  // was marked while a CUDA stream was captured cannot be waited for: only lanes can come after it.
  void wait() const;

  // Waits until the host's part is over and throws what it failed with; null: the work is done.
  StreamEvent* settled() const { return work_ ? work_->settled() : nullptr; }

 private:
  std::shared_ptr<PendingWork> work_;
};

// How long the calling thread has waited for tickets, all in all: what it did not compute itself.
std::chrono::steady_clock::duration waited_for_tickets();

}  // namespace ingot
