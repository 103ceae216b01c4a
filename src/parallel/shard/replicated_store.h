// Inside parallel: every rank holds every weight; gradients are summed once a step. One rank is the
// case without communication.
#pragma once

#include "parallel/shard/parameter_store.h"

namespace ingot {

class ReplicatedStore final : public ParameterStore {
 public:
  ReplicatedStore(Context& ctx, Communicator& comm, const TensorTable& parameters,
                  const Layout& layout, const PlacedTensors& placed, DType compute);

  Context& context() const override { return ctx_; }
  const ShardMap& shard_map() const override { return map_; }
  Communicator& shard_group() override { return *alone_; }

  // Weights are always whole: nothing to fetch, give back or publish.
  void acquire(int) override {}
  void release(int) override {}
  void release_gradients(int) override {}

  Tensor weight(TensorId parameter) const override { return weights_[index(parameter)]; }
  GradientSlot gradient(TensorId parameter) override;
  std::optional<Accumulate> recordable_writes() const override;
  void finish_gradients() override;
  void start_step() override;
  std::span<const ParameterShard> shards() const override { return shards_; }

 private:
  void share_weights() override {}
  static size_t index(TensorId parameter) { return static_cast<size_t>(parameter.row); }

  Context& ctx_;
  Communicator& comm_;
  const std::unique_ptr<Communicator> alone_ = single_communicator(ctx_);
  ShardMap map_;
  std::vector<ParameterShard> shards_;
  std::vector<Tensor> weights_;    // by parameter, whole shape
  std::vector<Tensor> gradients_;  // by parameter, whole shape
  std::vector<bool> written_;      // by parameter: the gradient holds something of this step
};

}  // namespace ingot
