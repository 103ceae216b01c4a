#include "core/error.h"
#include "parallel/shard/replicated_store.h"
#include "parallel/shard/sharded_store.h"

namespace ingot {

std::unique_ptr<ParameterStore> make_parameter_store(Context& ctx, World& world,
                                                     const TensorTable& parameters,
                                                     const Layout& layout,
                                                     const PlacedTensors& placed, DType compute) {
  check(world.size() == layout.world(), ErrorCode::Internal,
        "store: expected a world of the layout's {} ranks, got {}", layout.world(), world.size());
  if (layout.dp_shard > 1)
    return std::make_unique<ShardedStore>(ctx, world, parameters, layout, placed, compute);
  return std::make_unique<ReplicatedStore>(ctx, world, parameters, layout, placed, compute);
}

}  // namespace ingot
