// The keys that identify duplicates.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/dedup/dedup_stage.h"
#include "ingest/dedup/key_runs.h"

namespace ingot {

// Keys are split into partitions that are merged independently: by bucket, and by their first bits.
int64_t num_partitions(const DedupSettings& settings);

// One per thread. `splitter` is null for exact deduplication, else it must outlive this object.
class DocumentKeys {
 public:
  DocumentKeys(const DedupSettings& settings, const Splitter* splitter);

  struct Key {
    int64_t partition;
    uint64_t high, low;
  };
  // Two documents are duplicates if they share a key. A document without keys is never a duplicate:
  // MinHash needs at least one n-gram, exact deduplication a non-empty normal form. Valid until the
  // next call.
  const std::vector<Key>& keys_of(std::string_view text);

 private:
  void add(int64_t bucket, const void* data, size_t size);

  DedupSettings settings_;
  std::unique_ptr<MinHasher> hasher_;
  std::string normal_;
  std::vector<Key> keys_;
};

}  // namespace ingot
