// Inside parallel: a rank's shards as views of its memory.
#pragma once

#include <vector>

#include "parallel/shard/parameter_store.h"

namespace ingot {

// The slices of `map` as views of `placed`, in the order of the parameter table.
std::vector<ParameterShard> store_shards(const TensorTable& parameters, const ShardMap& map,
                                         const PlacedTensors& placed, DType compute);

}  // namespace ingot
