// A folder of shards with its documents numbered through.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "shards/shard_reader.h"

namespace ingot {

// Shards are mapped on first use and stay mapped. Thread-safe.
class ShardFolder {
 public:
  explicit ShardFolder(std::string folder);  // throws as read_manifest() does

  const std::string& path() const { return path_; }
  const ShardManifest& manifest() const { return manifest_; }
  int64_t num_documents() const { return first_documents_.back(); }
  size_t num_shards() const { return manifest_.shards.size(); }

  const ShardReader& shard(size_t number) const;
  int64_t first_document(size_t shard) const { return first_documents_[shard]; }

  // The position of a document. Throws ErrorCode::Usage if the number does not exist.
  struct Place {
    const ShardReader* shard;
    int64_t document;  // in the shard
    int64_t num_tokens() const { return shard->document_end(document) - begin(); }
    int64_t begin() const { return shard->document_begin(document); }
  };
  Place document(int64_t number) const;
  std::vector<int32_t> ids(int64_t document) const;
  // The document's content id: equal for documents with equal text (ShardReader::content).
  ContentId content(int64_t document) const;

 private:
  std::string path_;
  ShardManifest manifest_;
  std::vector<int64_t> first_documents_;  // by shard; the last entry is the total
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<ShardReader>> shards_;
};

// Throws ErrorCode::Data naming the folders of shards in `folder`, if there are any: it is above
// them, as the one that `ingot data mix` writes.
void check_holds_no_shard_folders(const std::string& folder);

}  // namespace ingot
