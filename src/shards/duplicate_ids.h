// Documents that share an id.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/storage.h"
#include "shards/manifest.h"

namespace ingot {

struct DuplicateIds {
  int64_t count = 0;                  // documents whose id an earlier one has
  std::vector<std::string> examples;  // "source: id" of a few, as their names are
};

// Sorts the ids of all shards: in memory where `memory_bytes` hold them, otherwise in parts that
// lie in the folder `aside` meanwhile. Reads the shards once or twice.
DuplicateIds find_duplicate_ids(Storage& storage, const std::string& folder,
                                const ShardManifest& manifest, int64_t memory_bytes,
                                const std::string& aside);

}  // namespace ingot
