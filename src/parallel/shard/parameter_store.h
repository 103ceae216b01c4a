// Who owns the weights. The model acquires a block's weights, computes, and hands its gradients
// back; whether they are whole, replicated or sharded over ranks is the store's business.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/context.h"
#include "ops/matmul.h"
#include "parallel/comm/communicator.h"
#include "spec/placed_tensors.h"
#include "spec/shard_map.h"
#include "spec/tensor_table.h"

namespace ingot {

// A place to write a gradient, wide (wide_dtype of the weight), of the weight's whole shape.
struct GradientSlot {
  Tensor tensor;
  Accumulate accumulate = Accumulate::No;  // No: first write since the slot was emptied
};

// What this rank updates: elements [range) of the flattened weight. All tensors are (range.size()),
// wide, except weight, which is in compute dtype, states as they are declared, and a U16 master.
struct ParameterShard {
  TensorId parameter;  // row of the weight in the parameter table
  ShardRange range;
  // The exact weights: the same buffer as `weight` when that is wide; when it is BF16 the low
  // halves (U16) that, beside `weight`, make them exact (ops/halves.h).
  Tensor master;
  Tensor gradient;  // complete after finish_gradients()
  // The optimizer's, in the order in which it declares them (spec/optimizer_states.h), and their
  // names: "moment1".
  std::vector<Tensor> states;
  std::vector<std::string> state_names;
  Tensor weight;
};

class ParameterStore {
 public:
  virtual ~ParameterStore() = default;

  virtual Context& context() const = 0;  // what the store computes with
  // Of every parameter, what this rank's shard is and what it saves of it.
  virtual const ShardMap& shard_map() const = 0;
  // The ranks whose shards together are the parameters; sums over all elements are sums over it.
  virtual Communicator& shard_group() = 0;

  // Weights of `block` are whole and readable through weight() until release(block). Blocks may be
  // acquired again (the backward pass, recomputation); calls nest no deeper than two blocks.
  virtual void acquire(int block) = 0;
  virtual void release(int block) = 0;
  virtual Tensor weight(TensorId parameter) const = 0;

  // The slot for a parameter's gradient in this micro-step. The caller writes all of it (or adds to
  // all of it, as the slot says); release_gradients(block) hands the block's slots back, after
  // which they may be reduced and reused.
  virtual GradientSlot gradient(TensorId parameter) = 0;
  virtual void release_gradients(int block) = 0;
  // How the next micro-step writes its slots, where all of them are written alike and stay where
  // they are, so that its work may be recorded and issued again; nothing otherwise.
  virtual std::optional<Accumulate> recordable_writes() const { return std::nullopt; }

  // Ends the accumulation of a step: afterwards every shard's gradient is the sum over all
  // micro-steps and all ranks.
  virtual void finish_gradients() = 0;
  // Empties the gradients for the next step.
  virtual void start_step() = 0;
  // Called after the shards were changed: makes the new weights visible to acquire().
  void publish_weights() {
    ++weights_version_;
    share_weights();
  }
  // Grows with every change of the weights, for who keeps something made of them.
  int64_t weights_version() const { return weights_version_; }

  virtual std::span<const ParameterShard> shards() const = 0;

 private:
  virtual void share_weights() = 0;
  int64_t weights_version_ = 0;
};

// Picks the form by layout: one rank, replicated (data parallel) or fully sharded (ZeRO-3). All
// memory comes from `placed`. `comm` and `placed` must outlive the store.
std::unique_ptr<ParameterStore> make_parameter_store(Context& ctx, Communicator& comm,
                                                     const TensorTable& parameters,
                                                     const Layout& layout,
                                                     const PlacedTensors& placed, DType compute);

// The exact weights of a shard's elements [begin, end), wide. Between steps: where the master is in
// halves they are joined in the memory of the gradient, which nobody needs then.
Tensor exact_weights(Context& ctx, const ParameterShard& shard, int64_t begin, int64_t end);
// New exact weights are written into exact_room(shard), (range.size()) wide, and then put in force.
Tensor exact_room(const ParameterShard& shard);
void take_exact_weights(Context& ctx, const ParameterShard& shard);

// Fills masters and weights by each row's init rule; element values depend only on (seed, name,
// global index), so every layout starts from the same weights bit for bit, and F64 from F32's.
void init_weights(ParameterStore& store, const TensorTable& parameters, uint64_t seed);

}  // namespace ingot
