#include "remote/spool.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/error/log.h"

namespace ingot {
namespace {

constexpr size_t kAheadBytes = size_t{16} << 20;

// A ring of bytes.
class MemorySpool final : public Spool {
 public:
  MemorySpool() : ring_(kAheadBytes) {}

  Start begin() override { return {}; }
  void version(const WebVersion& version) override {
    const std::lock_guard lock(mutex_);
    etag_ = version.etag;
  }

  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return filled_ < ring_.size() || closed_; });
      if (closed_) return;
      const size_t at = (first_ + filled_) % ring_.size();
      const size_t count = std::min({bytes.size(), ring_.size() - filled_, ring_.size() - at});
      std::memcpy(ring_.data() + at, bytes.data(), count);
      filled_ += count;
      bytes.remove_prefix(count);
      changed_.notify_all();
    }
  }

  bool restart() override {
    const std::lock_guard lock(mutex_);
    if (given_ > 0) return false;
    first_ = filled_ = 0;
    return true;
  }

 private:
  size_t available() const override { return filled_; }
  size_t take(char* into, size_t size) override {
    const size_t count = std::min({size, filled_, ring_.size() - first_});
    std::memcpy(into, ring_.data() + first_, count);
    first_ = (first_ + count) % ring_.size();
    filled_ -= count;
    return count;
  }

  std::vector<char> ring_;
  size_t first_ = 0, filled_ = 0;
};

}  // namespace

void Spool::finish(std::exception_ptr failure) {
  try {
    end(!failure);
  } catch (...) {
    if (!failure) failure = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  finished_ = true;
  failure_ = failure;
  changed_.notify_all();
}

size_t Spool::read(char* into, size_t size) {
  std::unique_lock lock(mutex_);
  {
    const log::Wait wait("bytes from the network");
    changed_.wait(lock, [&] { return available() > 0 || finished_; });
  }
  if (available() == 0) {
    if (failure_) std::rethrow_exception(failure_);
    return 0;
  }
  const size_t count = take(into, size);
  given_ += static_cast<int64_t>(count);
  changed_.notify_all();
  return count;
}

void Spool::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

bool Spool::wait_until_finished(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, timeout, [&] { return finished_; })) return false;
  if (failure_) std::rethrow_exception(failure_);
  return true;
}

int64_t Spool::bytes() {
  const std::lock_guard lock(mutex_);
  return given_ + static_cast<int64_t>(available());
}

std::string Spool::etag() {
  const std::lock_guard lock(mutex_);
  return etag_;
}

std::unique_ptr<Spool> memory_spool() {
  return std::make_unique<MemorySpool>();
}

}  // namespace ingot
