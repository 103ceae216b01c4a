// Writes documents of tokens to shards of a given size.
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
// Limit on a document's own id as written; longer ones are rejected.
inline constexpr size_t kMaxNameBytes = size_t{64} << 10;

struct ShardSettings {
  int64_t token_bytes = 2;                     // 2 or 4
  int64_t shard_tokens = kDefaultShardTokens;  // a shard ends with the document that reaches it
  std::string prefix;                          // of the shards' names
  int32_t bos = -1, eos = -1;                  // for the manifest; not part of a document's content
};

// The id width for a vocabulary.
int64_t token_bytes_for(int64_t vocab_size);

// What was written: finished shards, and each source's sums including the unfinished shard.
struct WrittenShards {
  std::vector<ShardFile> shards;
  std::vector<ShardSource> sources;
};

// A shard's files are written with names ending in ".tmp" and renamed when all of them are durable;
// the next writer overwrites leftovers of an interrupted one. The bytes depend only on the
// documents. The caller writes the manifest last (write_manifest).
class ShardWriter {
 public:
  // Numbers shards after those in `before`, which lists all sources.
  ShardWriter(std::shared_ptr<Storage> storage, std::string folder, ShardSettings settings,
              WrittenShards before);
  ~ShardWriter();

  // Appends ids to the current document. Throws ErrorCode::Internal for an id that does not fit.
  void append(std::span<const int32_t> ids);
  // Ends the document, which must have tokens. True if its shard is full and durable.
  bool end_document(DocumentId id, int64_t num_bytes, int64_t source, std::string_view name);
  // Ends the last shard, if it has documents.
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

// Atomic; completes the folder.
void write_manifest(Storage& storage, const std::string& folder, const ShardManifest& manifest);

}  // namespace ingot
