// A store whose shards lie in host memory, where the CPU updates them. Complete gradients are
// copied to the host, new weights to the device (ZeRO-Offload, arXiv 2101.06840). Blocks,
// collectives and the model's interface are those of a store on the device.
#pragma once

#include "core/async/lane.h"
#include "parallel/shard/forwarding_store.h"

namespace ingot {

class OffloadedStore final : public ForwardingStore {
 public:
  // `device`: context of `on_device`, whose masters and states are host rows. `cpu`: context for
  // work on shards. `placed` has the rows of add_offload_rows(). All must outlive this object.
  OffloadedStore(Context& device, Context& cpu, std::unique_ptr<ParameterStore> on_device,
                 const TensorTable& parameters, const PlacedTensors& placed);

  Context& context() const override { return cpu_; }
  // Starts copying gradients to the host, one after the other; see await_gradient().
  void finish_gradients() override;
  std::span<const ParameterShard> shards() const override { return shards_; }

  // The gradients on the device: their norm need not wait for the copies.
  std::vector<Tensor> device_gradients() const;
  // Waits until the gradient of this shard is in host memory.
  void await_gradient(const ParameterShard& shard);
  // The weight of this shard is updated: copies it to the device while other shards are updated.
  // Weights not sent this way are copied by publish_weights().
  void send_weight(const ParameterShard& shard);

 private:
  struct Transfer {
    Ticket down;        // of the gradient's copy to the host
    bool sent = false;  // the weight's copy has been issued
  };
  void gather_new_weights() override;
  Transfer& of(const ParameterShard& shard) {
    return transfers_[static_cast<size_t>(shard.parameter.row)];
  }

  Context& cpu_;
  std::vector<ParameterShard> shards_;
  std::unique_ptr<Lane> compute_, down_, up_;  // the device's lane, and one per direction
  std::vector<Transfer> transfers_;            // by parameter
};

}  // namespace ingot
