#include "core/storage/byte_stream.h"

#include <algorithm>
#include <span>

#include "core/storage/storage.h"

namespace ingot {
namespace {

class StoredFile final : public ByteStream {
 public:
  explicit StoredFile(std::unique_ptr<ReadableFile> file)
      : file_(std::move(file)), size_(file_->size()) {}

  size_t read(char* into, size_t size) override {
    const size_t count = std::min(size, static_cast<size_t>(size_ - bytes_read_));
    file_->read(bytes_read_, std::as_writable_bytes(std::span(into, count)));
    bytes_read_ += static_cast<int64_t>(count);
    return count;
  }
  int64_t bytes_read() const override { return bytes_read_; }

 private:
  std::unique_ptr<ReadableFile> file_;
  int64_t size_, bytes_read_ = 0;
};

}  // namespace

std::unique_ptr<ByteStream> open_byte_stream(Storage& storage, const std::string& path) {
  return std::make_unique<StoredFile>(storage.open(path));
}

}  // namespace ingot
