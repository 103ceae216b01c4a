// Documents that are called the same, or say the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/storage/storage.h"
#include "shards/manifest.h"

namespace ingot {

enum class DocumentKey { Id, Content, IdAndContent };

struct DuplicateDocuments {
  int64_t count = 0;  // documents that have the key of an earlier one
  // Of a few keys the first document's "source: id", and the second's where that is another.
  std::vector<std::string> examples;
};

// A folder of shards; its manifest need not be written yet.
struct ShardsIn {
  std::string folder;
  const ShardManifest* manifest;
};

// Sorts the keys of all shards: in memory where `memory_bytes` hold them, otherwise in parts that
// lie in the folder `aside` meanwhile. Reads ids and contents of the shards once or twice; of
// shards without hashes, the tokens.
DuplicateDocuments find_duplicate_documents(Storage& storage, const std::vector<ShardsIn>& shards,
                                            DocumentKey key, int64_t memory_bytes,
                                            const std::string& aside);

}  // namespace ingot
