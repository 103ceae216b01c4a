// Documents of tokens into shards of a chosen size.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/storage/storage.h"
#include "shards/manifest.h"

namespace ingot {

inline constexpr int64_t kDefaultShardTokens = 100'000'000;
// Of a document's own id, as it is written; longer ones are refused.
inline constexpr size_t kMaxNameBytes = size_t{64} << 10;

struct ShardSettings {
  int64_t token_bytes = 2;                     // 2 or 4
  int64_t shard_tokens = kDefaultShardTokens;  // a shard ends with the document that reaches it
  std::string prefix;                          // of the shards' names
  int32_t bos = -1, eos = -1;                  // the manifest's: no part of a document's content
};

// The width that a vocabulary needs.
int64_t token_bytes_for(int64_t vocab_size);

// What was written: finished shards, and the sums of each source over them and over the shard
// under way.
struct WrittenShards {
  std::vector<ShardFile> shards;
  std::vector<ShardSource> sources;
};

// A shard's files are written under names that end in ".tmp" and renamed when all of them are on
// the disk; what an interrupted writer leaves is overwritten by the next. The bytes depend on the
// documents alone. The manifest is the caller's to write, last (write_manifest).
class ShardWriter {
 public:
  // Shards are numbered after those in `before`, whose sources are all there will be.
  ShardWriter(std::shared_ptr<Storage> storage, std::string folder, ShardSettings settings,
              WrittenShards before);
  ~ShardWriter();

  // More ids of the document under way. Throws ErrorCode::Internal for an id that does not fit.
  void append(std::span<const int32_t> ids);
  // Ends it; it must have tokens. True when its shard is full and lies on the disk.
  bool end_document(DocumentId id, int64_t num_bytes, int64_t source, std::string_view name);
  // Ends the last shard, if one is under way.
  void finish();

  const WrittenShards& written() const { return written_; }

 private:
  class Shard;

  std::shared_ptr<Storage> storage_;
  std::string folder_;
  ShardSettings settings_;
  WrittenShards written_;
  std::unique_ptr<Shard> shard_;  // empty between shards
};

// Atomically; from then on the folder is whole.
void write_manifest(Storage& storage, const std::string& folder, const ShardManifest& manifest);

}  // namespace ingot
