// A background thread that fills batches while the model computes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "feed/loader.h"

namespace ingot {

class Prefetcher {
 public:
  static constexpr int64_t kDepth = 4;  // batches held, the one in use included

  // Fills batches of B samples, each at the position that the next call of `next_counter` returns,
  // until it returns none. The background thread calls it. `loader` must outlive this.
  Prefetcher(const Loader& loader, int64_t B, std::function<std::optional<int64_t>()> next_counter);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // The next batch, in order; valid until the following call. Rethrows an error of filling it.
  // Throws ErrorCode::Internal after the last batch.
  const Batch& next();

 private:
  void work();

  const Loader& loader_;
  const int64_t B_;
  const std::function<std::optional<int64_t>()> next_counter_;
  std::vector<Batch> ring_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t num_filled_ = 0;  // batches filled so far: number n is in ring_[n % kDepth]
  int64_t num_taken_ = 0;   // batches handed out; the last of them is in use
  bool ended_ = false;      // nothing more will be filled
  bool abandoned_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace ingot
