// Inside parallel: ZeRO-3. Each rank holds one shard of every weight, gradient and optimizer state.
// A block is whole only around its uses: its weights are gathered while the tick before computes,
// its gradients are reduced while the tick after does. Where there are replicas of the shards too,
// gradients are then summed over them, once a step.
#pragma once

#include "core/lane.h"
#include "parallel/shard/data_groups.h"
#include "parallel/shard/parameter_store.h"
#include "spec/store_rows.h"

namespace ingot {

class ShardedStore final : public ParameterStore {
 public:
  ShardedStore(Context& ctx, World& world, const TensorTable& parameters, const Layout& layout,
               const PlacedTensors& placed, DType compute);

  Context& context() const override { return ctx_; }
  const ShardMap& shard_map() const override { return map_; }
  Communicator& shard_group() override { return *groups_.shards; }

  void begin(std::span<const BlockUse> order, bool last) override;
  void end() override;
  void acquire(const BlockUse& use) override;
  void release(const BlockUse& use) override;
  Tensor weight(TensorId parameter) const override;
  GradientSlot gradient(TensorId parameter) override;
  void release_gradients(int block) override;
  std::optional<std::string> record_key(bool last) const override;
  void note_record(bool last) override;
  void finish_gradients() override;
  void start_step() override;
  std::span<const ParameterShard> shards() const override { return shards_; }

 private:
  struct Parameter {
    Tensor weight_shard;      // (padded_shard_size), compute dtype
    Tensor gradient_shard;    // (padded_shard_size), F32
    Tensor whole_weight;      // (ranks · padded_shard_size) of the block's gather row
    Tensor whole_gradient;    // likewise, F32
    Tensor weight, gradient;  // the same without padding, of the parameter's shape
    int block = -1;
    bool slot_written = false;   // the whole gradient holds something not yet reduced
    bool shard_written = false;  // the shard holds something of this step
    bool reduced = false;        // over replicas too, or under way
  };
  struct Block {
    std::vector<size_t> parameters;
    int users = 0;        // acquires not yet released
    bool awaited = true;  // the compute lane comes after `gathered`
    Ticket gathered;
  };
  struct Gather {
    Lifetime life;  // of the whole weights
    int block;
  };
  struct Reduction {
    int tick;  // that released the gradients
    Ticket ticket;
  };

  void share_weights() override;
  Parameter& at(TensorId id) { return parameters_[static_cast<size_t>(id.row)]; }
  const Parameter& at(TensorId id) const { return parameters_[static_cast<size_t>(id.row)]; }
  Block& at(int block);
  void enter(int tick);
  void gather(int block, const Ticket& room);
  // `complete`: nothing is added to them in this step any more.
  void reduce(int block, bool complete);

  Context& ctx_;
  DataGroups groups_;
  std::unique_ptr<Lane> compute_;
  ShardMap map_;
  std::vector<ParameterShard> shards_;
  std::vector<Parameter> parameters_;
  std::vector<Block> blocks_;
  bool keeps_whole_gradients_ = false;  // through the step, to be reduced once

  std::span<const BlockUse> order_;  // of the micro-step at hand
  bool last_ = false;
  int tick_ = -1;
  std::vector<Gather> gathers_;  // of the order, by tick; the first next_gather_ are begun
  size_t next_gather_ = 0;
  std::vector<Reduction> reductions_;  // that the compute lane does not come after yet
};

}  // namespace ingot
