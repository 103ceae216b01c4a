// Internal to parallel: the parameter store. A rank owns a shard of each block, or all of it if the
// block is not sharded. All-gather is in BlockWeights, reduce-scatter in BlockGradients.
#pragma once

#include "core/async/lane.h"
#include "parallel/shard/block_gradients.h"
#include "parallel/shard/block_weights.h"
#include "parallel/shard/data_groups.h"
#include "parallel/shard/parameter_store.h"

namespace ingot {

class BlockStore final : public ParameterStore {
 public:
  BlockStore(Context& ctx, World& world, const TensorTable& parameters, const Layout& layout,
             const PlacedTensors& placed);

  Context& context() const override { return ctx_; }
  const ShardMap& shard_map() const override { return map_; }
  Communicator& shard_group() override { return *groups_.shards; }

  void begin(std::span<const BlockUse> order, bool last) override;
  void end() override;
  void acquire(const BlockUse& use) override;
  void release(const BlockUse& use) override;
  Tensor weight(TensorId parameter) const override;
  GradientSlot gradient(TensorId parameter) override { return gradients_.slot(parameter); }
  void release_gradients(int block) override { gradients_.release(block); }
  std::optional<std::string> record_key(bool last) const override;
  void note_record(bool last) override;
  void finish_gradients() override { gradients_.finish(); }
  void start_step() override;
  std::span<const ParameterShard> shards() const override { return shards_; }

 private:
  struct Weight {
    int block = -1;
    Tensor whole;  // unsharded, in the parameter's shape
  };
  void gather_new_weights() override { weights_.changed(); }
  bool is_sharded() const { return groups_.shards->size() > 1; }

  Context& ctx_;
  DataGroups groups_;
  std::unique_ptr<Lane> compute_;
  ShardMap map_;
  std::vector<StoreBlock> blocks_;
  std::vector<ParameterShard> shards_;
  std::vector<Weight> whole_;  // by parameter
  BlockWeights weights_;
  BlockGradients gradients_;

  std::span<const BlockUse> order_;  // of the current micro-step
  int tick_ = -1;
};

}  // namespace ingot
