#include "core/error.h"
#include "parallel/shard/replicated_store.h"
#include "parallel/shard/sharded_store.h"
#include "spec/store_rows.h"

namespace ingot {

std::unique_ptr<ParameterStore> make_parameter_store(Context& ctx, Communicator& comm,
                                                     const TensorTable& parameters,
                                                     const Layout& layout,
                                                     const PlacedTensors& placed, DType compute) {
  check(comm.size() == layout.world(), ErrorCode::Internal,
        "store: expected a communicator of the layout's {} ranks, got {}", layout.world(),
        comm.size());
  if (layout.dp_shard > 1)
    return std::make_unique<ShardedStore>(ctx, comm, parameters, layout, placed, compute);
  return std::make_unique<ReplicatedStore>(ctx, comm, parameters, layout, placed, compute);
}

}  // namespace ingot
