#include "parallel/shard/sharded_store.h"

#include <algorithm>

#include "core/error.h"
#include "core/lane.h"
#include "ops/memory.h"
#include "parallel/shard/store_shards.h"

namespace ingot {
namespace {

// to(n) += from(n)
template <class T>
void add(Context& ctx, const T* from, T* to, int64_t n) {
  constexpr int64_t kPerTask = 64 * 1024;  // 256 KiB of F32: outweighs the dispatch of a task
  ctx.pool->run((n + kPerTask - 1) / kPerTask, [&](int64_t task, int) {
    const int64_t end = std::min(n, (task + 1) * kPerTask);
    for (int64_t i = task * kPerTask; i < end; ++i) to[i] += from[i];
  });
}

// dst(n) += src(n), both F32 or F64.
void add(Context& ctx, const Tensor& src, const Tensor& dst) {
  if (dst.dtype == DType::F64) return add(ctx, src.as<double>(), dst.as<double>(), dst.numel());
  add(ctx, src.as<float>(), dst.as<float>(), dst.numel());
}

}  // namespace

ShardedStore::ShardedStore(Context& ctx, Communicator& comm, const TensorTable& parameters,
                           const Layout& layout, const PlacedTensors& placed, DType compute)
    : ctx_(ctx),
      comm_(comm),
      map_(ingot::shard_map(parameters, layout, comm.rank())),
      shards_(store_shards(parameters, map_, placed, compute)),
      layouts_(block_layouts(parameters, layout.dp_shard)),
      part_(placed.find(kGatherPart)) {
  for (const TensorSpec& row : parameters.rows()) {
    Parameter parameter;
    parameter.block = row.block;
    parameter.shape = row.shape;
    parameter.weight_shard = placed.find(store_row_name(TensorKind::Weight, row.name));
    parameter.gradient_shard = placed.find(store_row_name(TensorKind::Gradient, row.name));
    parameters_.push_back(parameter);
  }
  for (const BlockLayout& block : layouts_)
    for (const BlockLayout::Entry& entry : block.entries) at(entry.parameter).begin = entry.begin;
  for (size_t i = 0; i < 2; ++i) {
    weights_[i].memory = placed.find(kGatherWeights[i]);
    gradients_[i].memory = placed.find(kGatherGradients[i]);
  }
}

const BlockLayout& ShardedStore::layout(int block) const {
  check(block >= 0 && block < static_cast<int>(layouts_.size()), ErrorCode::Internal,
        "store: expected a block in [0, {}), got {}", layouts_.size(), block);
  return layouts_[static_cast<size_t>(block)];
}

ShardedStore::Buffer* ShardedStore::holder(std::array<Buffer, 2>& buffers, int block) {
  const auto found = std::find_if(buffers.begin(), buffers.end(),
                                  [block](const Buffer& buffer) { return buffer.block == block; });
  return found == buffers.end() ? nullptr : &*found;
}

void ShardedStore::acquire(int block) {
  const BlockLayout& wanted = layout(block);
  if (Buffer* held = holder(weights_, block)) {  // also after release: its weights are still there
    ++held->users;
    return;
  }
  // The older buffer goes first, so that the backward pass finds the forward's last two blocks.
  const size_t chosen = weights_[1 - newest_].users == 0 ? 1 - newest_ : newest_;
  Buffer& buffer = weights_[chosen];
  check(buffer.users == 0, ErrorCode::Internal,
        "store: acquire of block {} nests a third block; {} and {} are still acquired", block,
        weights_[0].block, weights_[1].block);
  for (const BlockLayout::Entry& entry : wanted.entries)
    comm_
        .all_gather(at(entry.parameter).weight_shard,
                    buffer.memory.slice(0, entry.begin, entry.begin + entry.padded_numel),
                    compute_lane(ctx_)->mark("weights"))
        .wait();
  buffer.block = block;
  buffer.users = 1;
  newest_ = chosen;
}

void ShardedStore::release(int block) {
  Buffer* buffer = holder(weights_, block);
  check(buffer != nullptr && buffer->users > 0, ErrorCode::Internal,
        "store: release of block {}, which is not acquired", block);
  --buffer->users;
}

Tensor ShardedStore::weight(TensorId id) const {
  const Parameter& parameter = at(id);
  for (const Buffer& buffer : weights_)
    if (buffer.block == parameter.block && buffer.users > 0)
      return buffer.memory.slice(0, parameter.begin, parameter.begin + parameter.shape.numel())
          .reshape(parameter.shape);
  throw Error(ErrorCode::Internal,
              fmt::format("store: weight of block {} read while the block is not acquired",
                          parameter.block));
}

GradientSlot ShardedStore::gradient(TensorId id) {
  Parameter& parameter = at(id);
  Buffer* buffer = holder(gradients_, parameter.block);
  if (buffer == nullptr) buffer = holder(gradients_, -1);
  check(buffer != nullptr, ErrorCode::Internal,
        "store: gradients of block {} while those of {} and {} are not released", parameter.block,
        gradients_[0].block, gradients_[1].block);
  buffer->block = parameter.block;
  const Accumulate accumulate = parameter.slot_written ? Accumulate::Yes : Accumulate::No;
  parameter.slot_written = true;
  return {buffer->memory.slice(0, parameter.begin, parameter.begin + parameter.shape.numel())
              .reshape(parameter.shape),
          accumulate};
}

void ShardedStore::release_gradients(int block) {
  const BlockLayout& wanted = layout(block);
  Buffer* buffer = holder(gradients_, block);
  if (buffer == nullptr) return;  // nothing was written since the last release
  for (const BlockLayout::Entry& entry : wanted.entries) {
    Parameter& parameter = at(entry.parameter);
    if (parameter.slot_written)
      reduce(parameter, buffer->memory.slice(0, entry.begin, entry.begin + entry.padded_numel));
  }
  buffer->block = -1;
}

void ShardedStore::reduce(Parameter& parameter, const Tensor& whole) {
  const Tensor& shard = parameter.gradient_shard;
  const Ticket gradients = compute_lane(ctx_)->mark("gradients");
  if (parameter.shard_written) {
    const Tensor part = part_.slice(0, 0, shard.numel());
    comm_.reduce_scatter(whole, part, Reduce::Sum, gradients).wait();
    add(ctx_, part, shard);
  } else {
    comm_.reduce_scatter(whole, shard, Reduce::Sum, gradients).wait();
  }
  parameter.shard_written = true;
  parameter.slot_written = false;
}

void ShardedStore::finish_gradients() {
  for (const Buffer& buffer : gradients_)
    check(buffer.block < 0, ErrorCode::Internal,
          "store: the step ends while gradients of block {} are not released", buffer.block);
  for (const Parameter& parameter : parameters_)
    if (!parameter.shard_written) zero(ctx_, parameter.gradient_shard);  // holds the last step's
}

void ShardedStore::start_step() {
  for (Buffer& buffer : gradients_) buffer.block = -1;  // of a step that failed half-way
  for (Parameter& parameter : parameters_) {
    parameter.slot_written = false;
    parameter.shard_written = false;
  }
}

void ShardedStore::share_weights() {
  for (Buffer& buffer : weights_) {
    check(buffer.users == 0, ErrorCode::Internal,
          "store: weights published while block {} is acquired", buffer.block);
    buffer.block = -1;
  }
}

}  // namespace ingot
