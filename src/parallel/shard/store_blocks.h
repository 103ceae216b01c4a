// Internal to parallel: a rank's blocks and shards as views of its memory.
#pragma once

#include <vector>

#include "parallel/shard/parameter_store.h"
#include "spec/rows/block_layout.h"

namespace ingot {

// A row of an unsharded block, flat, including padding.
struct UnshardedRow {
  Tensor whole;  // (ranks · S), S elements per rank
  Tensor own;    // (S): this rank's part of it
  std::vector<Lifetime> lives;
};

// A block on one rank. If the unsharded row is always in memory, the shard is a part of it.
struct StoreBlock {
  BlockLayout layout;
  UnshardedRow weights;    // compute dtype
  Tensor weight_shard;     // (S)
  UnshardedRow gradients;  // acc dtype; undefined if nothing is sent, like gradient_shard
  Tensor gradient_shard;   // (S) accumulation dtype
  UnshardedRow narrow;     // BF16: gradients as sent; undefined if sent in their own dtype
  // The parameters in the unsharded rows, in their own shapes, by entry of the layout.
  std::vector<Tensor> weight_views, gradient_views;

  bool always_unsharded() const { return weight_shard.data == weights.own.data; }
  bool keeps_gradients() const { return gradient_shard.data == gradients.own.data; }
};

// The rows of add_store_rows() in `placed`, by block. `shard_rank`: index among the sharding ranks.
std::vector<StoreBlock> store_blocks(const TensorTable& parameters, const Layout& layout,
                                     int shard_rank, const PlacedTensors& placed);

// The slices of `map` as views of the blocks, in the order of the parameter table.
std::vector<ParameterShard> store_shards(const std::vector<StoreBlock>& blocks, const ShardMap& map,
                                         int shard_rank, const PlacedTensors& placed);

}  // namespace ingot
