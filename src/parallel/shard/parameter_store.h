// Who owns the weights. The model acquires a block's weights, computes, and hands its gradients
// back; whether they are whole, replicated or sharded over ranks is the store's business.
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
  // The optimizer's, in the order in which it declares them (spec/rows/optimizer_states.h), and
  // their names: "moment1".
  std::vector<Tensor> states;
  std::vector<std::string> state_names;
  Tensor weight;
};

// Nothing here waits on the host, but where the CPU itself computes: work on other lanes is ordered
// by tickets, and what is issued through the context comes after what it needs.
class ParameterStore {
 public:
  virtual ~ParameterStore() = default;

  virtual Context& context() const = 0;  // what the store computes with
  // Of every parameter, what this rank's shard is and what it saves of it.
  virtual const ShardMap& shard_map() const = 0;
  // The ranks whose shards together are the parameters; sums over all elements are sums over it.
  virtual Communicator& shard_group() = 0;

  // A micro-step or an evaluation begins, which uses blocks in `order`; it must live until end().
  // `last`: of the step, so that gradients are complete, and reduced, when they are released.
  virtual void begin(std::span<const BlockUse> order, bool last) = 0;
  // What is issued from now on comes after all that the micro-step put on other lanes.
  virtual void end() = 0;

  // Weights of the use's block are whole and readable through weight() until release(use). Uses are
  // acquired in their order; of one tick also several at once.
  virtual void acquire(const BlockUse& use) = 0;
  virtual void release(const BlockUse& use) = 0;
  virtual Tensor weight(TensorId parameter) const = 0;

  // The slot for a parameter's gradient in this micro-step, at a use that writes it. The caller
  // writes all of it (or adds to all of it, as the slot says); release_gradients(block) hands the
  // block's slots back, after which they may be reduced and reused.
  virtual GradientSlot gradient(TensorId parameter) = 0;
  virtual void release_gradients(int block) = 0;

  // Names all that the store's part of the next micro-step depends on, where its work may be
  // recorded and issued again: all slots are written alike and stay where they are, and collectives
  // can be recorded; nothing otherwise.
  virtual std::optional<std::string> record_key(bool last) const = 0;
  // A record of such a micro-step was issued in place of the calls from begin() to end().
  virtual void note_record(bool last) = 0;

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

// Blocks are shared along dp_shard; when they are whole and how gradients are summed the rows of
// `placed` say (add_store_rows), where all memory comes from. All ranks of the world make theirs;
// everything referred to must outlive the store.
std::unique_ptr<ParameterStore> make_parameter_store(Context& ctx, World& world,
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
