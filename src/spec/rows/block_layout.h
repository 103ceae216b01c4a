// Where the parameters of a block lie: one after another in one row, which ranks share in equal
// parts. So a block is one collective, whatever it is made of.
#pragma once

#include <vector>

#include "core/device/arena.h"
#include "spec/layout/shard_range.h"
#include "spec/table/tensor_table.h"

namespace ingot {

// Parameters and shards begin at multiples of so many elements: aligned like an arena row in 2-byte
// weights as well as in wide gradients, so that one layout serves both.
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
  int64_t shard_elements = 0;  // of each rank: rank r has [r · shard_elements, …) of the row

  int64_t num_elements() const { return ranks * shard_elements; }  // padding among them
  // The rank's shard as a range of the row.
  ShardRange shard(int rank) const;
  // What of a parameter falls into it: a range of the parameter's flat elements, often empty.
  ShardRange part(const Entry& entry, int rank) const;
};

// By block number. `ranks`: that share a block.
std::vector<BlockLayout> block_layouts(const TensorTable& parameters, int ranks);

// A rank's parts of some parameters of the block, in the order of the row, put one after another:
// where each begins. Of all parameters that is where they lie in the rank's shard.
struct PackedParts {
  std::vector<int64_t> begins;  // by parameter asked for
  int64_t num_elements = 0;
};
PackedParts packed_parts(const BlockLayout& block, const std::vector<TensorId>& parameters,
                         int rank);

}  // namespace ingot
