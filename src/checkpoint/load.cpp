#include <algorithm>

#include "checkpoint/checkpoint.h"
#include "core/error.h"
#include "ops/reduce.h"

namespace ingot {

RunState load_checkpoint(const CheckpointReader& reader, const TensorTable& parameters,
                         ParameterStore& store) {
  const CheckpointInfo& info = reader.info();
  for (const ParameterShard& shard : store.shards()) {
    const TensorSpec& row = parameters[shard.parameter];
    check(reader.numel(row.name) == row.shape.numel(), ErrorCode::Data,
          "checkpoint '{}' is of another model: {} has {} elements there, {} here", info.dir,
          row.name, reader.numel(row.name), row.shape.numel());
    reader.read("weight", row.name, shard.range, shard.master);
    if (shard.weight.data != shard.master.data) cast(store.context(), shard.master, shard.weight);
    for (const auto& [what, moment] :
         {std::pair{"moment1", shard.moment1}, std::pair{"moment2", shard.moment2}}) {
      if (info.has_optimizer) {
        reader.read(what, row.name, shard.range, moment);
      } else {
        std::fill_n(moment.as<float>(), moment.numel(), 0.0f);
      }
    }
  }
  store.publish_weights();
  return info.state;
}

}  // namespace ingot
