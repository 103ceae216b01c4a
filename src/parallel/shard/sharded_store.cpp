#include "parallel/shard/sharded_store.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "ops/memory.h"
#include "parallel/shard/store_shards.h"

namespace ingot {

ShardedStore::ShardedStore(Context& ctx, World& world, const TensorTable& parameters,
                           const Layout& layout, const PlacedTensors& placed, DType compute)
    : ctx_(ctx),
      groups_(ctx, world, layout),
      compute_(compute_lane(ctx)),
      map_(ingot::shard_map(parameters, layout, world.rank())),
      shards_(store_shards(parameters, map_, placed, compute)) {
  for (const TensorSpec& row : parameters.rows()) {
    Parameter parameter;
    parameter.block = row.block;
    parameter.weight_shard = placed.find(store_row_name(TensorKind::Weight, row.name));
    parameter.gradient_shard = placed.find(store_row_name(TensorKind::Gradient, row.name));
    parameters_.push_back(parameter);
  }
  const std::vector<BlockLayout> layouts = block_layouts(parameters, layout.dp_shard);
  blocks_.resize(layouts.size());
  for (size_t block = 0; block < layouts.size(); ++block) {
    const Tensor weights = placed.find(gather_row_name(GatherRow::Weights, block));
    const Tensor gradients = placed.find(gather_row_name(GatherRow::Gradients, block));
    for (const BlockLayout::Entry& entry : layouts[block].entries) {
      const Shape& shape = parameters[entry.parameter].shape;
      const auto part = [&](const Tensor& row, int64_t numel) {
        return row.slice(0, entry.begin, entry.begin + numel);
      };
      Parameter& parameter = at(entry.parameter);
      parameter.whole_weight = part(weights, entry.padded_numel);
      parameter.whole_gradient = part(gradients, entry.padded_numel);
      parameter.weight = part(weights, shape.numel()).reshape(shape);
      parameter.gradient = part(gradients, shape.numel()).reshape(shape);
      blocks_[block].parameters.push_back(static_cast<size_t>(entry.parameter.row));
    }
  }
  const TensorTable& table = placed.table();
  keeps_whole_gradients_ = table[table.find(gather_row_name(GatherRow::Gradients, 0))].whole_run();
}

ShardedStore::Block& ShardedStore::at(int block) {
  check(block >= 0 && block < static_cast<int>(blocks_.size()), ErrorCode::Internal,
        "store: expected a block in [0, {}), got {}", blocks_.size(), block);
  return blocks_[static_cast<size_t>(block)];
}

void ShardedStore::begin(std::span<const BlockUse> order, bool last) {
  end();  // of a micro-step that failed half-way
  order_ = order;
  last_ = last;
  tick_ = -1;
  gathers_.clear();
  next_gather_ = 0;
  for (int block = 0; block < static_cast<int>(blocks_.size()); ++block)
    for (const Lifetime& life : gathered_lives(order, block)) gathers_.push_back({life, block});
  std::sort(gathers_.begin(), gathers_.end(), [](const Gather& a, const Gather& b) {
    return std::tuple(a.life.first, a.life.last, a.block) <
           std::tuple(b.life.first, b.life.last, b.block);
  });
}

void ShardedStore::end() {
  for (Block& block : blocks_) {
    if (!block.awaited) compute_->after(block.gathered);
    block.awaited = true;
    block.users = 0;
  }
  for (const Reduction& reduction : reductions_) compute_->after(reduction.ticket);
  reductions_.clear();
  order_ = {};
}

// Memory whose life ended with the tick before is free when what was issued so far is done and what
// was in flight through that tick too; then what begins to live now may be written.
void ShardedStore::enter(int tick) {
  tick_ = tick;
  std::erase_if(reductions_, [&](const Reduction& reduction) {
    if (reduction.tick + 1 >= tick) return false;
    compute_->after(reduction.ticket);
    return true;
  });
  Ticket room;
  bool marked = false;
  for (; next_gather_ < gathers_.size(); ++next_gather_) {
    const Gather& next = gathers_[next_gather_];
    if (next.life.first > tick) break;
    if (!std::exchange(marked, true)) room = compute_->mark("room for weights");
    gather(next.block, room);
  }
}

void ShardedStore::gather(int block, const Ticket& room) {
  Block& gathered = at(block);
  for (const size_t i : gathered.parameters)
    gathered.gathered =
        groups_.shards->all_gather(parameters_[i].weight_shard, parameters_[i].whole_weight, room);
  gathered.awaited = false;
}

void ShardedStore::acquire(const BlockUse& use) {
  check(std::find(order_.begin(), order_.end(), use) != order_.end() && use.tick >= tick_,
        ErrorCode::Internal, "store: block {} is acquired at tick {}, which is not its turn",
        use.block, use.tick);
  if (use.tick > tick_) enter(use.tick);
  if (!use.reads_weights) return;
  Block& block = at(use.block);
  if (!block.awaited) compute_->after(block.gathered);
  block.awaited = true;
  ++block.users;
}

void ShardedStore::release(const BlockUse& use) {
  if (!use.reads_weights) return;
  Block& block = at(use.block);
  check(block.users > 0, ErrorCode::Internal, "store: release of block {}, which is not acquired",
        use.block);
  --block.users;
}

Tensor ShardedStore::weight(TensorId id) const {
  const Parameter& parameter = at(id);
  check(blocks_[static_cast<size_t>(parameter.block)].users > 0, ErrorCode::Internal,
        "store: weight of block {} read while the block is not acquired", parameter.block);
  return parameter.weight;
}

GradientSlot ShardedStore::gradient(TensorId id) {
  Parameter& parameter = at(id);
  const bool has_room = std::any_of(order_.begin(), order_.end(), [&](const BlockUse& use) {
    return use.block == parameter.block && use.tick == tick_ && use.writes_gradients();
  });
  check(has_room && !parameter.reduced, ErrorCode::Internal,
        "store: a gradient of block {} is written at tick {}, which is not its turn",
        parameter.block, tick_);
  const Accumulate accumulate = parameter.slot_written ? Accumulate::Yes : Accumulate::No;
  parameter.slot_written = true;
  return {parameter.gradient, accumulate};
}

void ShardedStore::release_gradients(int block) {
  at(block);  // there is such a block
  const bool complete = last_ && last_gradient_tick(order_, block) == tick_;
  if (complete || !keeps_whole_gradients_) reduce(block, complete);
}

void ShardedStore::reduce(int block, bool complete) {
  // What the shard has of earlier micro-steps goes into this rank's share of the sum.
  for (const size_t i : at(block).parameters) {
    const Parameter& parameter = parameters_[i];
    if (!parameter.slot_written || !parameter.shard_written) continue;
    const int64_t n = parameter.gradient_shard.numel(), begin = n * groups_.shards->rank();
    add(ctx_, parameter.gradient_shard, parameter.whole_gradient.slice(0, begin, begin + n));
  }
  const Ticket ready = compute_->mark("gradients");
  for (const size_t i : at(block).parameters) {
    Parameter& parameter = parameters_[i];
    Ticket done = ready;
    if (std::exchange(parameter.slot_written, false)) {
      done = groups_.shards->reduce_scatter(parameter.whole_gradient, parameter.gradient_shard,
                                            Reduce::Sum, ready);
      parameter.shard_written = true;
    }
    if (complete && parameter.shard_written && groups_.replicas->size() > 1)
      done = groups_.replicas->all_reduce(parameter.gradient_shard, Reduce::Sum, done);
    parameter.reduced = complete;
    reductions_.push_back({tick_, done});
  }
}

std::optional<std::string> ShardedStore::record_key(bool last) const {
  if (!groups_.shards->capturable() || !groups_.replicas->capturable()) return std::nullopt;
  const Parameter& first = parameters_.front();
  for (const Parameter& parameter : parameters_)
    if (parameter.shard_written != first.shard_written ||
        parameter.slot_written != first.slot_written)
      return std::nullopt;
  return fmt::format("{}{}{}", first.slot_written, first.shard_written, last);
}

void ShardedStore::note_record(bool last) {
  for (Parameter& parameter : parameters_) {
    parameter.slot_written = keeps_whole_gradients_ && !last;
    parameter.shard_written = !parameter.slot_written;
    parameter.reduced = last;
  }
}

void ShardedStore::finish_gradients() {
  for (const Parameter& parameter : parameters_)
    check(keeps_whole_gradients_ || !parameter.slot_written, ErrorCode::Internal,
          "store: the step ends while gradients of block {} are not released", parameter.block);
  // Where no micro-step was the last: what is left of the sums.
  for (size_t block = 0; block < blocks_.size(); ++block) {
    const auto& parameters = blocks_[block].parameters;
    if (std::any_of(parameters.begin(), parameters.end(),
                    [this](size_t i) { return !parameters_[i].reduced; }))
      reduce(static_cast<int>(block), /*complete=*/true);
  }
  end();
  for (const Parameter& parameter : parameters_)
    if (!parameter.shard_written) zero(ctx_, parameter.gradient_shard);  // holds the last step's
}

void ShardedStore::start_step() {
  end();  // of a step that failed half-way
  for (Parameter& parameter : parameters_)
    parameter.slot_written = parameter.shard_written = parameter.reduced = false;
}

void ShardedStore::share_weights() {
  for (const Block& block : blocks_)
    check(block.users == 0, ErrorCode::Internal,
          "store: weights published while block {} is acquired", &block - blocks_.data());
  end();  // what was gathered is old
}

}  // namespace ingot
