// A store whose shards lie in host memory, where the CPU updates them: gradients come down when
// they are complete, weights go up when they are new (ZeRO-Offload, arXiv 2101.06840). Blocks,
// collectives and the model's view of them are those of a store on the device.
#pragma once

#include "core/async/lane.h"
#include "parallel/shard/forwarding_store.h"

namespace ingot {

class OffloadedStore final : public ForwardingStore {
 public:
  // `device`: what `on_device` computes with; its masters and states are rows of host memory.
  // `cpu`: what shards are computed with. `placed` has the rows of add_offload_rows(). All must
  // outlive it.
  OffloadedStore(Context& device, Context& cpu, std::unique_ptr<ParameterStore> on_device,
                 const TensorTable& parameters, const PlacedTensors& placed);

  Context& context() const override { return cpu_; }
  // Gradients come down from then on, one after the other; see await_gradient().
  void finish_gradients() override;
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
  std::vector<ParameterShard> shards_;
  std::unique_ptr<Lane> compute_, down_, up_;  // the device's, and one for each direction
  std::vector<Transfer> transfers_;            // by parameter
};

}  // namespace ingot
