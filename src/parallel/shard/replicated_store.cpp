#include "parallel/shard/replicated_store.h"

#include <algorithm>

#include "core/error.h"
#include "ops/memory.h"
#include "parallel/shard/store_shards.h"

namespace ingot {

ReplicatedStore::ReplicatedStore(Context& ctx, World& world, const TensorTable& parameters,
                                 const Layout& layout, const PlacedTensors& placed, DType compute)
    : ctx_(ctx),
      groups_(ctx, world, layout),
      compute_(compute_lane(ctx)),
      map_(ingot::shard_map(parameters, layout, world.rank())),
      shards_(store_shards(parameters, map_, placed, compute)),
      written_(shards_.size(), false),
      reduced_(shards_.size(), false) {
  for (const ParameterShard& shard : shards_) {
    const TensorSpec& parameter = parameters[shard.parameter];
    blocks_.push_back(parameter.block);
    weights_.push_back(shard.weight.reshape(parameter.shape));
    gradients_.push_back(shard.gradient.reshape(parameter.shape));
  }
}

void ReplicatedStore::begin(std::span<const BlockUse> order, bool last) {
  order_ = order;
  last_ = last;
}

void ReplicatedStore::end() {
  for (const Ticket& ticket : in_flight_) compute_->after(ticket);
  in_flight_.clear();
}

GradientSlot ReplicatedStore::gradient(TensorId parameter) {
  const size_t i = index(parameter);
  check(!reduced_[i], ErrorCode::Internal,
        "store: a gradient of block {} is written after it was summed over the ranks", blocks_[i]);
  const Accumulate accumulate = written_[i] ? Accumulate::Yes : Accumulate::No;
  written_[i] = true;
  return {gradients_[i], accumulate};
}

void ReplicatedStore::release_gradients(int block) {
  if (!communicates() || !last_ || last_gradient_tick(order_, block) != tick_) return;
  std::vector<size_t> parameters;
  for (size_t i = 0; i < blocks_.size(); ++i)
    if (blocks_[i] == block) parameters.push_back(i);
  reduce(parameters);
}

void ReplicatedStore::reduce(const std::vector<size_t>& parameters) {
  for (const size_t i : parameters) {
    if (!written_[i]) zero(ctx_, gradients_[i]);  // still holds the last step's
    written_[i] = true;
  }
  if (!communicates()) return;
  const Ticket ready = compute_->mark("gradients");
  for (const size_t i : parameters) {
    in_flight_.push_back(groups_.replicas->all_reduce(gradients_[i], Reduce::Sum, ready));
    reduced_[i] = true;
  }
}

std::optional<std::string> ReplicatedStore::record_key(bool last) const {
  const bool reduces = last && communicates();
  if (reduces && !groups_.replicas->capturable()) return std::nullopt;
  const bool first = written_.front();
  if (std::find(written_.begin(), written_.end(), !first) != written_.end()) return std::nullopt;
  return fmt::format("{}{}", first ? "adds" : "writes", reduces ? " and reduces" : "");
}

void ReplicatedStore::note_record(bool last) {
  std::fill(written_.begin(), written_.end(), true);
  if (last && communicates()) std::fill(reduced_.begin(), reduced_.end(), true);
}

void ReplicatedStore::finish_gradients() {
  std::vector<size_t> rest;
  for (size_t i = 0; i < gradients_.size(); ++i)
    if (!reduced_[i]) rest.push_back(i);
  reduce(rest);
  end();
}

void ReplicatedStore::start_step() {
  end();  // of a step that failed half-way
  std::fill(written_.begin(), written_.end(), false);
  std::fill(reduced_.begin(), reduced_.end(), false);
}

}  // namespace ingot
