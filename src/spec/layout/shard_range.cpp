#include "spec/layout/shard_range.h"

#include <algorithm>

#include "core/error/error.h"

namespace ingot {

int64_t padded_shard_size(int64_t numel, int ranks) {
  check(ranks >= 1 && numel >= 0, ErrorCode::Internal,
        "a shard expected at least one rank and no negative length, got {} ranks, {} elements",
        ranks, numel);
  return (numel + ranks - 1) / ranks;
}

ShardRange shard_range(int64_t numel, int ranks, int rank) {
  check(rank >= 0 && rank < ranks, ErrorCode::Internal, "expected a rank below {}, got {}", ranks,
        rank);
  const int64_t size = padded_shard_size(numel, ranks);
  return {std::min(numel, rank * size), std::min(numel, (rank + 1) * size)};
}

}  // namespace ingot
