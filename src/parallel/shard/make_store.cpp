#include "core/error.h"
#include "parallel/shard/replicated_store.h"
#include "parallel/shard/sharded_store.h"
#include "spec/store_rows.h"

namespace ingot {

std::unique_ptr<ParameterStore> make_parameter_store(Context& ctx, Communicator& comm,
                                                     const TensorTable& parameters,
                                                     const Mesh& mesh, const PlacedTensors& placed,
                                                     DType compute) {
  check(comm.size() == mesh.world(), ErrorCode::Internal,
        "store: expected a communicator of the mesh's {} ranks, got {}", mesh.world(), comm.size());
  if (store_mode(mesh) == DataParallel::FullySharded)
    return std::make_unique<ShardedStore>(ctx, comm, parameters, mesh, placed, compute);
  return std::make_unique<ReplicatedStore>(ctx, comm, parameters, mesh, placed, compute);
}

}  // namespace ingot
