// Inside parallel: ZeRO-3. Each rank holds one shard of every weight, gradient and moment; a block
// is whole only while it is acquired, in one of two buffers.
#pragma once

#include <array>

#include "parallel/shard/parameter_store.h"
#include "spec/store_rows.h"

namespace ingot {

class ShardedStore final : public ParameterStore {
 public:
  ShardedStore(Context& ctx, Communicator& comm, const TensorTable& parameters,
               const Layout& layout, const PlacedTensors& placed, DType compute);

  Context& context() const override { return ctx_; }
  const ShardMap& shard_map() const override { return map_; }
  Communicator& shard_group() override { return comm_; }

  void acquire(int block) override;
  void release(int block) override;
  Tensor weight(TensorId parameter) const override;
  GradientSlot gradient(TensorId parameter) override;
  void release_gradients(int block) override;
  void finish_gradients() override;
  void start_step() override;
  std::span<const ParameterShard> shards() const override { return shards_; }

 private:
  void share_weights() override;
  struct Buffer {
    Tensor memory;   // (largest block's elements)
    int block = -1;  // whose weights or gradients it holds
    int users = 0;   // weights: acquires not yet released
  };
  struct Parameter {
    int block = -1;
    Shape shape;
    int64_t begin = 0;           // element of the block's buffer
    Tensor weight_shard;         // (padded_shard_size), compute dtype
    Tensor gradient_shard;       // (padded_shard_size), F32
    bool slot_written = false;   // the gradient slot holds something not yet reduced
    bool shard_written = false;  // the shard holds something of this step
  };

  Parameter& at(TensorId id) { return parameters_[static_cast<size_t>(id.row)]; }
  const Parameter& at(TensorId id) const { return parameters_[static_cast<size_t>(id.row)]; }
  const BlockLayout& layout(int block) const;
  static Buffer* holder(std::array<Buffer, 2>& buffers, int block);
  void reduce(Parameter& parameter, const Tensor& whole);

  Context& ctx_;
  Communicator& comm_;
  ShardMap map_;
  std::vector<ParameterShard> shards_;
  std::vector<BlockLayout> layouts_;
  std::vector<Parameter> parameters_;
  std::array<Buffer, 2> weights_;
  std::array<Buffer, 2> gradients_;
  Tensor part_;        // (largest padded shard), F32
  size_t newest_ = 0;  // weight buffer filled last
};

}  // namespace ingot
