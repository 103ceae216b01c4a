// Finds documents with equal ids or equal contents.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/storage/storage.h"
#include "shards/manifest.h"

namespace ingot {

enum class DocumentKey { Id, Content, IdAndContent };

struct DuplicateDocuments {
  int64_t count = 0;  // documents with the key of an earlier one
  // For a few keys: the first document's "source: id", and the second's if it differs.
  std::vector<std::string> examples;
};

// A folder of shards, possibly without its manifest yet.
struct ShardsIn {
  std::string folder;
  const ShardManifest* manifest;
};

// Sorts the keys of all shards: in memory if they fit into `memory_bytes`, otherwise in runs that
// are stored in the folder `aside` meanwhile. Reads ids and contents of the shards once or twice;
// for shards without hashes, the tokens.
DuplicateDocuments find_duplicate_documents(Storage& storage, const std::vector<ShardsIn>& shards,
                                            DocumentKey key, int64_t memory_bytes,
                                            const std::string& aside);

}  // namespace ingot
