#include "parallel/shard/store_shards.h"

#include "spec/store_rows.h"

namespace ingot {

std::vector<ParameterShard> store_shards(const TensorTable& parameters, const ShardMap& map,
                                         const PlacedTensors& placed, DType compute) {
  std::vector<ParameterShard> shards;
  for (const Slice& slice : map.slices()) {
    const TensorSpec& parameter = parameters[slice.parameter];
    ParameterShard shard;
    shard.parameter = slice.parameter;
    shard.range = slice.range;
    auto flat = [&](TensorKind kind) {  // (range.size()), without the padding
      const Tensor tensor = placed.find(store_row_name(kind, parameter.name));
      return tensor.reshape({tensor.numel()}).slice(0, 0, shard.range.size());
    };
    shard.weight = flat(TensorKind::Weight);
    shard.master = compute == DType::F32 ? shard.weight : flat(TensorKind::MasterWeight);
    shard.gradient = flat(TensorKind::Gradient);
    shard.moment1 = flat(TensorKind::Moment1);
    if (placed.table().try_find(store_row_name(TensorKind::Moment2, parameter.name)).valid())
      shard.moment2 = flat(TensorKind::Moment2);
    shards.push_back(shard);
  }
  return shards;
}

}  // namespace ingot
