// A store whose shards lie in host memory, where the CPU updates them: gradients come down when
// they are complete, weights go up when they are new (ZeRO-Offload, arXiv 2101.06840). Blocks,
// collectives and the model's view of them are those of a store on the device.
#pragma once

#include "core/lane.h"
#include "parallel/shard/parameter_store.h"

namespace ingot {

class OffloadedStore final : public ParameterStore {
 public:
  // `device`: what `on_device` computes with; its masters and states are rows of host memory.
  // `cpu`: what shards are computed with. `placed` has the rows of add_offload_rows(). All must
  // outlive it.
  OffloadedStore(Context& device, Context& cpu, std::unique_ptr<ParameterStore> on_device,
                 const TensorTable& parameters, const PlacedTensors& placed);

  Context& context() const override { return cpu_; }
  const ShardMap& shard_map() const override { return inner_->shard_map(); }
  Communicator& shard_group() override { return inner_->shard_group(); }
  void begin(std::span<const BlockUse> order, bool last) override { inner_->begin(order, last); }
  void end() override { inner_->end(); }
  void acquire(const BlockUse& use) override { inner_->acquire(use); }
  void release(const BlockUse& use) override { inner_->release(use); }
  Tensor weight(TensorId parameter) const override { return inner_->weight(parameter); }
  GradientSlot gradient(TensorId parameter) override { return inner_->gradient(parameter); }
  void release_gradients(int block) override { inner_->release_gradients(block); }
  std::optional<std::string> record_key(bool last) const override {
    return inner_->record_key(last);
  }
  void note_record(bool last) override { inner_->note_record(last); }
  // Gradients come down from then on, one after the other; see await_gradient().
  void finish_gradients() override;
  void start_step() override { inner_->start_step(); }
  std::span<const ParameterShard> shards() const override { return shards_; }

  // The same gradients where they were computed: a norm of them need not wait for copies.
  std::vector<Tensor> device_gradients() const;
  // The host waits until the gradient of this shard is here.
  void await_gradient(const ParameterShard& shard);
  // The weight of this shard is new: it goes up while others are updated. What is not sent so goes
  // when weights are published.
  void send_weight(const ParameterShard& shard);

 private:
  struct Transfer {
    Ticket down;        // of the gradient
    bool sent = false;  // the weight is on its way
  };
  void share_weights() override;
  Transfer& of(const ParameterShard& shard) {
    return transfers_[static_cast<size_t>(shard.parameter.row)];
  }

  Context& cpu_;
  std::unique_ptr<ParameterStore> inner_;
  std::vector<ParameterShard> shards_;
  std::unique_ptr<Lane> compute_, down_, up_;  // the device's, and one for each direction
  std::vector<Transfer> transfers_;            // by parameter
};

}  // namespace ingot
