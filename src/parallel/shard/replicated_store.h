// Inside parallel: every rank holds every weight. Gradients of a step are added up where they are
// and summed over the ranks once, block by block as the last micro-step's backward pass is done
// with them. One rank is the case without communication.
#pragma once

#include "core/lane.h"
#include "parallel/shard/data_groups.h"
#include "parallel/shard/parameter_store.h"

namespace ingot {

class ReplicatedStore final : public ParameterStore {
 public:
  ReplicatedStore(Context& ctx, World& world, const TensorTable& parameters, const Layout& layout,
                  const PlacedTensors& placed, DType compute);

  Context& context() const override { return ctx_; }
  const ShardMap& shard_map() const override { return map_; }
  Communicator& shard_group() override { return *groups_.shards; }

  void begin(std::span<const BlockUse> order, bool last) override;
  void end() override;
  // Weights are always whole: nothing to fetch, give back or publish.
  void acquire(const BlockUse& use) override { tick_ = use.tick; }
  void release(const BlockUse&) override {}

  Tensor weight(TensorId parameter) const override { return weights_[index(parameter)]; }
  GradientSlot gradient(TensorId parameter) override;
  void release_gradients(int block) override;
  std::optional<std::string> record_key(bool last) const override;
  void note_record(bool last) override;
  void finish_gradients() override;
  void start_step() override;
  std::span<const ParameterShard> shards() const override { return shards_; }

 private:
  void share_weights() override {}
  static size_t index(TensorId parameter) { return static_cast<size_t>(parameter.row); }
  bool communicates() const { return groups_.replicas->size() > 1; }
  // Gradients that nobody wrote in this step become zero; then they are summed over the ranks.
  void reduce(const std::vector<size_t>& parameters);

  Context& ctx_;
  DataGroups groups_;
  std::unique_ptr<Lane> compute_;
  ShardMap map_;
  std::vector<ParameterShard> shards_;
  std::vector<int> blocks_;        // by parameter
  std::vector<Tensor> weights_;    // by parameter, whole shape
  std::vector<Tensor> gradients_;  // by parameter, whole shape
  std::vector<bool> written_;      // by parameter: the gradient holds something of this step
  std::vector<bool> reduced_;      // by parameter: its sum is under way or done
  std::vector<Ticket> in_flight_;

  std::span<const BlockUse> order_;  // of the micro-step at hand
  bool last_ = false;
  int tick_ = 0;
};

}  // namespace ingot
