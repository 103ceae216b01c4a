#include "core/error/error.h"
#include "parallel/shard/block_store.h"
#include "spec/rows/store_rows.h"

namespace ingot {

std::unique_ptr<ParameterStore> make_parameter_store(Context& ctx, World& world,
                                                     const TensorTable& parameters,
                                                     const Layout& layout,
                                                     const PlacedTensors& placed, DType compute) {
  check(world.size() == layout.world(), ErrorCode::Internal,
        "store: expected a world of the layout's {} ranks, got {}", layout.world(), world.size());
  const Tensor weights = placed.find(store_row_name(StoreRow::Weights, 0));
  check(weights.dtype == compute, ErrorCode::Internal,
        "store: expected rows of weights in {}, got {}", name_of(compute), weights);
  return std::make_unique<BlockStore>(ctx, world, parameters, layout, placed);
}

}  // namespace ingot
