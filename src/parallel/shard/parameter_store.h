// Owner of the weights. The model acquires a block's weights, computes, and returns its gradients.
// The store hides whether weights are replicated, sharded over ranks or gathered.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/device/context.h"
#include "ops/matmul.h"
#include "parallel/comm/world.h"
#include "spec/rows/block_use.h"
#include "spec/rows/shard_map.h"
#include "spec/table/placed_tensors.h"
#include "spec/table/tensor_table.h"

namespace ingot {

// Memory for a gradient: accumulation dtype (accumulation_dtype of the weight), unsharded shape.
struct GradientSlot {
  Tensor tensor;
  Accumulate accumulate = Accumulate::No;  // No: the first write since the slot was cleared
};

// What this rank updates: elements [range) of the flattened weight. All tensors are (range.size())
// in the accumulation dtype, except weight (compute dtype), states (as declared) and a U16 master.
struct ParameterShard {
  TensorId parameter;  // row of the weight in the parameter table
  ShardRange range;
  // The exact weights. The same buffer as `weight` if that has the accumulation dtype. If it is
  // BF16: the low halves (U16) that make `weight` exact (ops/halves.h).
  Tensor master;
  Tensor gradient;  // complete after finish_gradients()
  // The optimizer's states in declaration order (spec/rows/optimizer_states.h), and their names:
  // "moment1".
  std::vector<Tensor> states;
  std::vector<std::string> state_names;
  Tensor weight;
};

// No function waits on the host, except where the CPU itself computes. Tickets order work on other
// lanes; work issued through the context comes after what it needs.
class ParameterStore {
 public:
  virtual ~ParameterStore() = default;

  virtual Context& context() const = 0;  // used for the store's own work
  // This rank's shard of every parameter, and the part that it saves.
  virtual const ShardMap& shard_map() const = 0;
  // The ranks whose shards together are the parameters; for sums over all elements.
  virtual Communicator& shard_group() = 0;

  // Begins a micro-step or an evaluation that uses blocks in `order`, which must live until end().
  // `last`: the step's last micro-step; its gradients are complete, and reduced, when released.
  virtual void begin(std::span<const BlockUse> order, bool last) = 0;
  // Work issued from now on comes after all work of the micro-step on other lanes.
  virtual void end() = 0;

  // Weights of the use's block are unsharded and readable through weight() until release(use).
  // Acquire uses in order; several uses of one tick may be acquired at once.
  virtual void acquire(const BlockUse& use) = 0;
  virtual void release(const BlockUse& use) = 0;
  virtual Tensor weight(TensorId parameter) const = 0;

  // The slot for a parameter's gradient in this micro-step, at a use that writes it. The caller
  // overwrites or accumulates into all of it, as the slot says. release_gradients(block) returns
  // the block's slots; then they may be reduced and reused.
  virtual GradientSlot gradient(TensorId parameter) = 0;
  virtual void release_gradients(int block) = 0;

  // A key of all that the store's part of the next micro-step depends on, if it can be recorded and
  // replayed: slots keep their addresses and modes, and collectives can be recorded. Otherwise
  // nothing.
  virtual std::optional<std::string> record_key(bool last) const = 0;
  // A recording of such a micro-step was replayed instead of the calls from begin() to end().
  virtual void note_record(bool last) = 0;

  // Ends the accumulation of a step: each shard's gradient becomes the sum over all micro-steps and
  // all ranks.
  virtual void finish_gradients() = 0;
  // Clears the gradients for the next step.
  virtual void start_step() = 0;
  // Call it after changing shards: makes the new weights visible to acquire().
  void publish_weights() {
    ++weights_version_;
    gather_new_weights();
  }
  // Increases with every change of the weights, for caches derived from them.
  int64_t weights_version() const { return weights_version_; }

  virtual std::span<const ParameterShard> shards() const = 0;

 private:
  virtual void gather_new_weights() = 0;
  int64_t weights_version_ = 0;
};

// Blocks are sharded along dp_shard. The rows of `placed` (add_store_rows) provide all memory and
// decide when weights are gathered and how gradients are reduced. All ranks of the world call this;
// all arguments must outlive the store.
std::unique_ptr<ParameterStore> make_parameter_store(Context& ctx, World& world,
                                                     const TensorTable& parameters,
                                                     const Layout& layout,
                                                     const PlacedTensors& placed, DType compute);

// The exact weights of a shard's elements [begin, end) in the accumulation dtype. Call it between
// steps: if the master is in halves, they are joined in the gradient's memory, which is free then.
Tensor exact_weights(Context& ctx, const ParameterShard& shard, int64_t begin, int64_t end);
// To set exact weights, write them into exact_room(shard), (range.size()) in the accumulation
// dtype, and then apply them.
Tensor exact_room(const ParameterShard& shard);
void take_exact_weights(Context& ctx, const ParameterShard& shard);

// Fills masters and weights by each row's init rule. Values depend only on (seed, name, global
// index): every layout starts with the same bits, and F64 starts with F32's values.
void init_weights(ParameterStore& store, const TensorTable& parameters, uint64_t seed);

}  // namespace ingot
