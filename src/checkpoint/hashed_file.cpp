#include "checkpoint/hashed_file.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error/error.h"

namespace ingot {
namespace {

class Hash {
 public:
  Hash() : state_(XXH3_createState()) {
    check(state_ != nullptr && XXH3_64bits_reset(state_.get()) == XXH_OK, ErrorCode::Memory,
          "no memory for a checksum");
  }
  void add(std::span<const std::byte> bytes) {
    XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
  }
  uint64_t value() const { return XXH3_64bits_digest(state_.get()); }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

}  // namespace

struct HashedFile::Impl {
  std::unique_ptr<WritableFile> file;
  int64_t bytes = 0;
  Hash hash;
};

HashedFile::HashedFile(Storage& storage, const std::string& path) : impl_(new Impl) {
  impl_->file = storage.create(path);
}

HashedFile::~HashedFile() = default;

void HashedFile::append(std::span<const std::byte> bytes) {
  // By chunks, so that the hash reads what the write then finds in the cache.
  while (!bytes.empty()) {
    const auto chunk = bytes.first(std::min<size_t>(bytes.size(), kFileChunkBytes));
    impl_->hash.add(chunk);
    impl_->file->append(chunk);
    impl_->bytes += static_cast<int64_t>(chunk.size());
    bytes = bytes.subspan(chunk.size());
  }
}

FileFacts HashedFile::finish() {
  impl_->file->sync();
  impl_->file->close();
  return {impl_->bytes, impl_->hash.value()};
}

FileFacts hash_file(const ReadableFile& file) {
  const int64_t bytes = file.size();
  std::vector<std::byte> chunk(static_cast<size_t>(std::min(bytes, kFileChunkBytes)));
  Hash hash;
  for (int64_t at = 0; at < bytes; at += kFileChunkBytes) {
    const auto part =
        std::span(chunk).first(static_cast<size_t>(std::min(kFileChunkBytes, bytes - at)));
    file.read(at, part);
    hash.add(part);
  }
  return {bytes, hash.value()};
}

uint64_t hash_text(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

}  // namespace ingot
