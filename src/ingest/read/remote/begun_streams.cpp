#include "ingest/read/remote/begun_streams.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ingot {

struct BegunStreams::Begun {
  std::unique_ptr<ByteStream> stream;
  std::string head;  // all that was read of it
};

class BegunStreams::Look final : public ByteStream {
 public:
  explicit Look(std::shared_ptr<Begun> begun) : begun_(std::move(begun)) {}
  size_t read(char* into, size_t size) override {
    const size_t count = begun_->stream->read(into, size);
    begun_->head.append(into, count);
    return count;
  }
  int64_t bytes_read() const override { return begun_->stream->bytes_read(); }
  std::string version() const override { return begun_->stream->version(); }

 private:
  std::shared_ptr<Begun> begun_;
};

class BegunStreams::Again final : public ByteStream {
 public:
  explicit Again(std::shared_ptr<Begun> begun) : begun_(std::move(begun)) {}
  size_t read(char* into, size_t size) override {
    std::string& head = begun_->head;
    if (given_ == head.size()) {
      head = {};
      given_ = 0;
      return begun_->stream->read(into, size);
    }
    const size_t count = std::min(size, head.size() - given_);
    std::memcpy(into, head.data() + given_, count);
    given_ += count;
    return count;
  }
  int64_t bytes_read() const override {
    return begun_->stream->bytes_read() - static_cast<int64_t>(begun_->head.size() - given_);
  }
  std::string version() const override { return begun_->stream->version(); }

 private:
  std::shared_ptr<Begun> begun_;
  size_t given_ = 0;  // of the head
};

std::unique_ptr<ByteStream> BegunStreams::open(const std::string& address, const Open& open_new) {
  std::unique_lock lock(mutex_);
  if (records_) {
    auto begun = std::make_shared<Begun>(Begun{open_new(), {}});
    begun_[address] = begun;
    return std::make_unique<Look>(std::move(begun));
  }
  if (auto found = begun_.extract(address); !found.empty()) {
    return std::make_unique<Again>(std::move(found.mapped()));
  }
  lock.unlock();
  return open_new();
}

void BegunStreams::record(bool wanted) {
  const std::lock_guard lock(mutex_);
  records_ = wanted;
}

}  // namespace ingot
