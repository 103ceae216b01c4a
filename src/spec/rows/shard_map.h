// Who holds what: of every parameter the elements that one rank stores, updates and saves.
#pragma once

#include <vector>

#include "spec/layout/layout.h"
#include "spec/layout/shard_range.h"
#include "spec/table/tensor_table.h"

namespace ingot {

struct Slice {
  TensorId parameter;
  ShardRange range;  // flat elements of the whole parameter that this rank holds
  ShardRange saved;  // of those, what it writes to a checkpoint: replicas share the work
};

// One rank's. Ranks along dp_shard hold disjoint ranges that together are the parameter: what of it
// falls into their shard of its block (spec/rows/block_layout.h), so they are uneven and often
// empty. Ranks along dp_replicate hold the same.
class ShardMap {
 public:
  explicit ShardMap(std::vector<Slice> slices) : slices_(std::move(slices)) {}
  const Slice& of(TensorId parameter) const { return slices_[static_cast<size_t>(parameter.row)]; }
  const std::vector<Slice>& slices() const { return slices_; }  // in the order of the parameters

 private:
  std::vector<Slice> slices_;
};

// `parameters` as transformer_parameters() lists them. Weights are not split along pp, cp or tp: a
// layout with ranks there is refused.
ShardMap shard_map(const TensorTable& parameters, const Layout& layout, int rank);
// Of the ranks along dp_shard, by their place there, which all replicas have alike but for `saved`.
std::vector<ShardMap> shard_maps(const TensorTable& parameters, const Layout& layout);

}  // namespace ingot
