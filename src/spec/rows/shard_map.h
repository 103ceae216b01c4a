// Ownership of parameter elements: what one rank stores, updates and saves.
#pragma once

#include <vector>

#include "spec/layout/layout.h"
#include "spec/layout/shard_range.h"
#include "spec/table/tensor_table.h"

namespace ingot {

struct Slice {
  TensorId parameter;
  ShardRange range;  // flat elements of the parameter that this rank holds
  ShardRange saved;  // the part of `range` it writes to a checkpoint: replicas split the work
};

// The map of one rank. Ranks along dp_shard hold disjoint ranges that cover the parameter: its part
// of their shard of the block (spec/rows/block_layout.h). The ranges differ in size and are often
// empty. Ranks along dp_replicate hold the same ranges.
class ShardMap {
 public:
  explicit ShardMap(std::vector<Slice> slices) : slices_(std::move(slices)) {}
  const Slice& of(TensorId parameter) const { return slices_[static_cast<size_t>(parameter.row)]; }
  const std::vector<Slice>& slices() const { return slices_; }  // in the order of the parameters

 private:
  std::vector<Slice> slices_;
};

// `parameters` in the order of transformer_parameters(). Weights are not split along pp, cp or tp:
// throws for a layout with ranks there.
ShardMap shard_map(const TensorTable& parameters, const Layout& layout, int rank);
// One map per rank along dp_shard. Replicas have the same maps, except for `saved`.
std::vector<ShardMap> shard_maps(const TensorTable& parameters, const Layout& layout);

}  // namespace ingot
