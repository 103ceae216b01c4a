// A range of elements split into contiguous shards, one per rank.
#pragma once

#include <cstdint>

namespace ingot {

// The contiguous range [begin, end) of `numel` elements that `rank` of `ranks` owns. All shards
// have the same padded length, so that collectives are uniform; the last ones may be short or
// empty.
struct ShardRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
  bool operator==(const ShardRange&) const = default;
};
int64_t padded_shard_size(int64_t numel, int ranks);
ShardRange shard_range(int64_t numel, int ranks, int rank);

}  // namespace ingot
