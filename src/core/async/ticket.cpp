#include "core/async/ticket.h"

#include "core/async/stream_event.h"
#include "core/error/log.h"

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;

thread_local Clock::duration waited{0};

// Counts what the thread waits while it lives.
class CountedWait {
 public:
  ~CountedWait() { waited += Clock::now() - start_; }

 private:
  Clock::time_point start_ = Clock::now();
};

}  // namespace

void PendingWork::settle(std::shared_ptr<StreamEvent> event) {
  const std::scoped_lock lock(mutex_);
  event_ = std::move(event);
  settled_ = true;
  changed_.notify_all();
}

void PendingWork::fail(std::exception_ptr failure) {
  const std::scoped_lock lock(mutex_);
  failure_ = std::move(failure);
  settled_ = true;
  changed_.notify_all();
}

StreamEvent* PendingWork::settled() const {
  std::unique_lock lock(mutex_);
  if (!settled_) {
    const log::Wait wait(name_.c_str());
    const CountedWait counted;
    changed_.wait(lock, [this] { return settled_; });
  }
  if (failure_) std::rethrow_exception(failure_);
  return event_.get();
}

void Ticket::wait() const {
  StreamEvent* event = settled();
  if (event == nullptr) return;
  const CountedWait counted;
  event->wait();
}

Clock::duration waited_for_tickets() {
  return waited;
}

}  // namespace ingot
