#include "feed/prefetch.h"

#include <utility>

#include "core/error/error.h"
#include "core/error/log.h"

namespace ingot {

Prefetcher::Prefetcher(const Loader& loader, int64_t B,
                       std::function<std::optional<int64_t>()> next_counter)
    : loader_(loader),
      B_(B),
      next_counter_(std::move(next_counter)),
      ring_(kDepth),
      thread_([this] { work(); }) {}

Prefetcher::~Prefetcher() {
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Prefetcher::work() {
  try {
    for (int64_t number = 0;; ++number) {
      const std::optional<int64_t> counter = next_counter_();
      if (!counter) break;
      {
        std::unique_lock lock(mutex_);
        // The batch whose place this one takes must be out of use: a later one handed out.
        changed_.wait(lock, [&] { return abandoned_ || number - num_taken_ < kDepth - 1; });
        if (abandoned_) return;
      }
      loader_.fill(*counter, B_, ring_[static_cast<size_t>(number % kDepth)]);
      const std::lock_guard lock(mutex_);
      ++num_filled_;
      changed_.notify_all();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    error_ = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

const Batch& Prefetcher::next() {
  std::unique_lock lock(mutex_);
  {
    const log::Wait wait("a batch of data");
    changed_.wait(lock, [&] { return num_filled_ > num_taken_ || ended_; });
  }
  if (num_filled_ == num_taken_) {
    if (error_) std::rethrow_exception(error_);
    throw Error(ErrorCode::Internal, "a batch was asked for beyond the run's last");
  }
  const Batch& batch = ring_[static_cast<size_t>(num_taken_ % kDepth)];
  ++num_taken_;
  changed_.notify_all();
  return batch;
}

}  // namespace ingot
