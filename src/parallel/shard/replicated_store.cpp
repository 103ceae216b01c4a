#include "parallel/shard/replicated_store.h"

#include <algorithm>

#include "core/lane.h"
#include "ops/memory.h"
#include "parallel/shard/store_shards.h"

namespace ingot {

ReplicatedStore::ReplicatedStore(Context& ctx, Communicator& comm, const TensorTable& parameters,
                                 const Layout& layout, const PlacedTensors& placed, DType compute)
    : ctx_(ctx),
      comm_(comm),
      map_(ingot::shard_map(parameters, layout, comm.rank())),
      shards_(store_shards(parameters, map_, placed, compute)),
      written_(shards_.size(), false) {
  for (const ParameterShard& shard : shards_) {
    const Shape& shape = parameters[shard.parameter].shape;
    weights_.push_back(shard.weight.reshape(shape));
    gradients_.push_back(shard.gradient.reshape(shape));
  }
}

GradientSlot ReplicatedStore::gradient(TensorId parameter) {
  const size_t i = index(parameter);
  const Accumulate accumulate = written_[i] ? Accumulate::Yes : Accumulate::No;
  written_[i] = true;
  return {gradients_[i], accumulate};
}

std::optional<Accumulate> ReplicatedStore::recordable_writes() const {
  const bool first = written_.front();
  if (std::find(written_.begin(), written_.end(), !first) != written_.end()) return std::nullopt;
  return first ? Accumulate::Yes : Accumulate::No;
}

void ReplicatedStore::finish_gradients() {
  for (size_t i = 0; i < gradients_.size(); ++i) {
    if (!written_[i]) zero(ctx_, gradients_[i]);  // still holds the last step's
    if (comm_.size() > 1)
      comm_.all_reduce(gradients_[i], Reduce::Sum, compute_lane(ctx_)->mark("gradients")).wait();
  }
}

void ReplicatedStore::start_step() {
  std::fill(written_.begin(), written_.end(), false);
}

}  // namespace ingot
