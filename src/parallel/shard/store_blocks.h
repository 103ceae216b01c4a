// Inside parallel: a rank's blocks and shards as views of its memory.
#pragma once

#include <vector>

#include "parallel/shard/parameter_store.h"
#include "spec/rows/block_layout.h"

namespace ingot {

// A row of a whole block, flat, padding included.
struct WholeRow {
  Tensor whole;  // (ranks · S), S elements being a rank's shard
  Tensor own;    // (S) of it: this rank's place
  std::vector<Lifetime> lives;
};

// A block on one rank. A shard is its own place in the whole row where that is always there.
struct StoreBlock {
  BlockLayout layout;
  WholeRow weights;       // compute dtype
  Tensor weight_shard;    // (S)
  WholeRow gradients;     // wide; undefined where nothing is sent, as gradient_shard
  Tensor gradient_shard;  // (S) wide
  WholeRow narrow;  // BF16: what is sent of gradients; undefined where they are sent as they are
  // The parameters in the whole rows, in their own shapes, by entry of the layout.
  std::vector<Tensor> weight_views, gradient_views;

  bool always_whole() const { return weight_shard.data == weights.own.data; }
  bool keeps_gradients() const { return gradient_shard.data == gradients.own.data; }
};

// The rows of add_store_rows() in `placed`, by block. `shard_rank`: among those that share a block.
std::vector<StoreBlock> store_blocks(const TensorTable& parameters, const Layout& layout,
                                     int shard_rank, const PlacedTensors& placed);

// The slices of `map` as views of them, in the order of the parameter table.
std::vector<ParameterShard> store_shards(const std::vector<StoreBlock>& blocks, const ShardMap& map,
                                         int shard_rank, const PlacedTensors& placed);

}  // namespace ingot
