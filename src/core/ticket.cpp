#include "core/ticket.h"

#include "core/log.h"
#include "core/stream_event.h"

namespace ingot {

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
    changed_.wait(lock, [this] { return settled_; });
  }
  if (failure_) std::rethrow_exception(failure_);
  return event_.get();
}

bool PendingWork::done() const {
  const std::scoped_lock lock(mutex_);
  return settled_ && (failure_ || !event_ || event_->done());
}

const std::string& Ticket::name() const {
  static const std::string none;
  return work_ ? work_->name() : none;
}

bool Ticket::done() const {
  return !work_ || work_->done();
}

void Ticket::wait() const {
  if (StreamEvent* event = settled()) event->wait();
}

}  // namespace ingot
