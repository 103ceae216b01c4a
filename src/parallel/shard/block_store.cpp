#include "parallel/shard/block_store.h"

#include <algorithm>

#include "core/error/error.h"

namespace ingot {

BlockStore::BlockStore(Context& ctx, World& world, const TensorTable& parameters,
                       const Layout& layout, const PlacedTensors& placed)
    : ctx_(ctx),
      groups_(ctx, world, layout),
      compute_(compute_lane(ctx)),
      map_(ingot::shard_map(parameters, layout, world.rank())),
      blocks_(store_blocks(parameters, layout, groups_.shards->rank(), placed)),
      shards_(store_shards(blocks_, map_, groups_.shards->rank(), placed)),
      whole_(parameters.rows().size()),
      weights_(blocks_, *compute_, *groups_.shards),
      gradients_(ctx, parameters.rows().size(), blocks_, *compute_, groups_) {
  for (size_t block = 0; block < blocks_.size(); ++block)
    for (size_t i = 0; i < blocks_[block].layout.entries.size(); ++i) {
      const TensorId parameter = blocks_[block].layout.entries[i].parameter;
      whole_[static_cast<size_t>(parameter.row)] = {static_cast<int>(block),
                                                    blocks_[block].weight_views[i]};
    }
  for (Communicator* group : {groups_.shards.get(), groups_.replicas.get()})
    group->expect_tensors_in(placed.device_memory());
}

void BlockStore::begin(std::span<const BlockUse> order, bool last) {
  end();  // of a micro-step that failed half-way
  order_ = order;
  tick_ = -1;
  weights_.begin(order, last);
  gradients_.begin(order, last);
}

void BlockStore::end() {
  weights_.end();
  gradients_.end();
  order_ = {};
}

// Memory whose life ended with the tick before is free when what was issued so far is done and what
// was in flight through that tick too; then what begins to live now may be written.
void BlockStore::acquire(const BlockUse& use) {
  check(!is_sharded() ||
            (std::find(order_.begin(), order_.end(), use) != order_.end() && use.tick >= tick_),
        ErrorCode::Internal, "store: block {} is acquired at tick {}, which is not its turn",
        use.block, use.tick);
  if (use.tick != tick_) {
    tick_ = use.tick;
    gradients_.enter(tick_);
    weights_.enter(tick_);
  }
  if (use.reads_weights) weights_.acquire(use.block);
}

void BlockStore::release(const BlockUse& use) {
  if (use.reads_weights) weights_.release(use.block);
}

Tensor BlockStore::weight(TensorId parameter) const {
  const Weight& weight = whole_[static_cast<size_t>(parameter.row)];
  check(!is_sharded() || weights_.is_acquired(weight.block), ErrorCode::Internal,
        "store: weight of block {} read while the block is not acquired", weight.block);
  return weight.whole;
}

std::optional<std::string> BlockStore::record_key(bool last) const {
  const bool gathers = weights_.gathers(), reduces = gradients_.reduces(last);
  if (gathers && !groups_.shards->capturable()) return std::nullopt;
  if (reduces && !(groups_.shards->capturable() && groups_.replicas->capturable()))
    return std::nullopt;
  const std::optional<std::string> gradients = gradients_.record_key();
  if (!gradients) return std::nullopt;
  // Only with collectives does it matter which micro-step is the last.
  const bool ends = last && (gathers || reduces);
  return fmt::format("{} {} {}", weights_.record_key(), *gradients, ends ? "last" : "");
}

void BlockStore::note_record(bool last) {
  weights_.note_record(last);
  gradients_.note_record(last);
}

void BlockStore::start_step() {
  weights_.end();
  gradients_.start_step();
}

}  // namespace ingot
