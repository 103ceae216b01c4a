// The ranks of a run and what each axis of them does. "Axis" is the mesh, "dim" is a tensor.
#pragma once

#include <cstdint>

namespace ingot {

enum class DataParallel { Replicated, FullySharded };  // gradients all-reduced, or ZeRO-3

struct Mesh {
  int data = 1;  // ranks along the data axis
  DataParallel mode = DataParallel::Replicated;
  int world() const { return data; }
};

// Contiguous [begin, end) of `numel` elements that `rank` of `ranks` owns. Shards are of equal
// padded length so that collectives are uniform; the last ones may be short or empty.
struct ShardRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};
int64_t padded_shard_size(int64_t numel, int ranks);
ShardRange shard_range(int64_t numel, int ranks, int rank);

}  // namespace ingot
