// NAME.hashes of a shard: detects changed bytes when they are first read, and finds equal documents
// without reading them. Little-endian:
//
//   16 bytes per document: its ContentId
//   8 bytes per 64 KiB of those, then of NAME.tokens, then of NAME.documents: XXH3-64, the last
//   one of each file over the remaining bytes
//
// The manifest holds the XXH3-64 of everything but the ContentIds: verifying the file reads 1/8192
// of the shard.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/storage/mapped_file.h"
#include "shards/content_id.h"
#include "shards/manifest.h"

struct XXH3_state_s;

namespace ingot {

inline constexpr size_t kHashedChunkBytes = size_t{64} << 10;

// Hashes a file in parts and yields the hash of each chunk.
class ChunkHasher {
 public:
  ChunkHasher();
  void add(std::string_view bytes);
  std::vector<uint64_t> finish();

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };

  std::vector<uint64_t> hashes_;
  size_t in_chunk_ = 0;  // bytes of the current chunk
  std::unique_ptr<XXH3_state_s, Free> state_;
};

// A file whose chunks are verified on first read. Thread-safe: two threads may verify the same
// chunk, which only costs time.
class CheckedChunks {
 public:
  struct Unit {             // the unit of positions
    std::string_view name;  // "tokens"
    size_t bytes = 1;
  };
  // `bytes` are the file's, from its start, and `hashes` those of its chunks; all must outlive this
  // object.
  CheckedChunks(const MappedFile& file, std::string_view bytes, std::span<const uint64_t> hashes,
                Unit unit);

  // Throws ErrorCode::Data naming the file and the change if bytes [begin, end) are not those that
  // were written; end > begin.
  void check(size_t begin, size_t end) const {
    for (size_t chunk = begin / kHashedChunkBytes; chunk <= (end - 1) / kHashedChunkBytes; ++chunk)
      if (!(good_[chunk / 64].load(std::memory_order_relaxed) >> chunk % 64 & 1)) compare(chunk);
  }
  void check_all() const {
    if (!bytes_.empty()) check(0, bytes_.size());
  }

 private:
  void compare(size_t chunk) const;

  const MappedFile& file_;
  std::string_view bytes_;
  std::span<const uint64_t> hashes_;
  Unit unit_;
  std::unique_ptr<std::atomic<uint64_t>[]> good_;  // a bit for each chunk
};

// NAME.hashes of one shard, mapped.
class ShardHashes {
 public:
  // Throws ErrorCode::Data if the file is missing, has another size or does not match the manifest.
  // `tokens` and `documents` must outlive this object.
  ShardHashes(const std::string& path, const ShardFile& shard, const MappedFile& tokens,
              size_t token_bytes, const MappedFile& documents);
  ShardHashes(const ShardHashes&) = delete;
  ShardHashes& operator=(const ShardHashes&) = delete;

  void check_tokens(size_t begin, size_t end) const { tokens_->check(begin, end); }  // bytes
  void check_documents(size_t begin, size_t end) const { documents_->check(begin, end); }
  ContentId content(int64_t document) const;  // verifies its chunk
  void check_all() const;                     // including the ContentIds

 private:
  MappedFile file_;
  size_t contents_bytes_;
  std::unique_ptr<CheckedChunks> contents_, tokens_, documents_;
};

}  // namespace ingot
