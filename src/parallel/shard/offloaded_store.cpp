#include "parallel/shard/offloaded_store.h"

#include <utility>

#include "ops/memory.h"
#include "spec/rows/offload_rows.h"

namespace ingot {

OffloadedStore::OffloadedStore(Context& device, Context& cpu,
                               std::unique_ptr<ParameterStore> on_device,
                               const TensorTable& parameters, const PlacedTensors& placed)
    : ForwardingStore(std::move(on_device)),
      cpu_(cpu),
      shards_(inner_->shards().begin(), inner_->shards().end()),
      compute_(compute_lane(device)),
      down_(side_lane(device, {.threads = 0})),
      up_(side_lane(device, {.threads = 0})),
      transfers_(parameters.rows().size()) {
  for (ParameterShard& shard : shards_) {
    const std::string& name = parameters[shard.parameter].name;
    const auto here = [&](OffloadRow what) {
      return placed.find(offload_row_name(what, name)).slice(0, 0, shard.range.size());
    };
    const bool is_own_master = shard.master.data == shard.weight.data;
    shard.weight = here(OffloadRow::Weights);
    if (is_own_master) shard.master = shard.weight;
    shard.gradient = here(OffloadRow::Gradients);
  }
}

void OffloadedStore::finish_gradients() {
  inner_->finish_gradients();
  down_->after(compute_->mark("gradients"));
  for (size_t i = 0; i < shards_.size(); ++i) {
    down_->issue([from = inner_->shards()[i].gradient, to = shards_[i].gradient](Context& ctx) {
      transfer(ctx, from, to);
    });
    of(shards_[i]).down = down_->mark("gradient on the host");
  }
}

std::vector<Tensor> OffloadedStore::device_gradients() const {
  std::vector<Tensor> gradients;
  for (const ParameterShard& shard : inner_->shards())
    if (shard.range.size() > 0) gradients.push_back(shard.gradient);
  return gradients;
}

void OffloadedStore::await_gradient(const ParameterShard& shard) {
  of(shard).down.wait();
}

void OffloadedStore::send_weight(const ParameterShard& shard) {
  const auto i = static_cast<size_t>(&shard - shards_.data());
  // Nobody reads the old one: the update goes by a norm that the device had after its last use.
  up_->issue([from = shard.weight, to = inner_->shards()[i].weight](Context& ctx) {
    transfer(ctx, from, to);
  });
  of(shard).sent = true;
}

void OffloadedStore::gather_new_weights() {
  up_->after(compute_->mark("weights are read"));
  for (const ParameterShard& shard : shards_) {
    if (!of(shard).sent) send_weight(shard);
    of(shard).sent = false;
  }
  compute_->after(down_->mark("gradients on the host"));  // their memory is the next step's
  compute_->after(up_->mark("weights on the device"));
  inner_->publish_weights();
}

}  // namespace ingot
