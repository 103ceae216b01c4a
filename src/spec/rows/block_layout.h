// The layout of a block's parameters: consecutive in one row, which is split into equal shards. So
// a block needs one collective, whatever its parameters are.
#pragma once

#include <vector>

#include "core/device/arena.h"
#include "spec/layout/shard_range.h"
#include "spec/table/tensor_table.h"

namespace ingot {

// Parameters and shards start at multiples of this many elements: aligned like an arena row both in
// 2-byte weights and in gradients of the accumulation dtype. So one layout serves both.
inline constexpr int64_t kBlockAlignment = kArenaAlignment / 2;

inline int64_t align_elements(int64_t count) {
  return (count + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
}

struct BlockLayout {
  struct Entry {
    TensorId parameter;
    int64_t begin = 0;  // element of the row
    int64_t numel = 0;
  };
  std::vector<Entry> entries;
  int ranks = 1;
  int64_t shard_elements = 0;  // per rank: rank r has [r · shard_elements, …) of the row

  int64_t num_elements() const { return ranks * shard_elements; }  // including padding
  // The rank's shard as a range of the row.
  ShardRange shard(int rank) const;
  // The part of a parameter in the rank's shard: a range of its flat elements, often empty.
  ShardRange part(const Entry& entry, int rank) const;
};

// Layouts by block number. `ranks`: the number of ranks that shard a block.
std::vector<BlockLayout> block_layouts(const TensorTable& parameters, int ranks);

// A rank's parts of some of the block's parameters, packed in row order: where each begins. For all
// parameters these are the positions in the rank's shard.
struct PackedParts {
  std::vector<int64_t> begins;  // by requested parameter
  int64_t num_elements = 0;
};
PackedParts packed_parts(const BlockLayout& block, const std::vector<TensorId>& parameters,
                         int rank);

}  // namespace ingot
