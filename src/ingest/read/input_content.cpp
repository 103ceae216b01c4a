#include "ingest/read/input_content.h"

#include <sys/stat.h>
#include <xxhash.h>

#include <vector>

#include "core/error/error.h"
#include "core/text/hex.h"

namespace ingot {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr int64_t kNsPerSecond = 1'000'000'000;

class HashedStream final : public ByteStream {
 public:
  explicit HashedStream(std::unique_ptr<ByteStream> inner)
      : inner_(std::move(inner)), state_(XXH3_createState()) {
    check(state_ != nullptr && XXH3_128bits_reset(state_.get()) == XXH_OK, ErrorCode::Memory,
          "no memory to hash an input");
  }

  size_t read(char* into, size_t size) override {
    const size_t count = inner_->read(into, size);
    XXH3_128bits_update(state_.get(), into, count);
    return count;
  }
  int64_t bytes_read() const override { return inner_->bytes_read(); }
  InputContent content() override {
    std::vector<char> rest(kChunkBytes);
    while (read(rest.data(), rest.size()) > 0) {
    }
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return {hex(hash.high64) + hex(hash.low64), inner_->version()};
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<ByteStream> inner_;
  std::unique_ptr<XXH3_state_t, Free> state_;
};

}  // namespace

FileStamp stamp_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {};
  return {status.st_size, status.st_mtim.tv_sec * kNsPerSecond + status.st_mtim.tv_nsec,
          status.st_ino};
}

std::unique_ptr<ByteStream> hashed(std::unique_ptr<ByteStream> inner) {
  return std::make_unique<HashedStream>(std::move(inner));
}

InputContent content_of_file(Storage& storage, const std::string& path) {
  return hashed(open_byte_stream(storage, path))->content();
}

}  // namespace ingot
