// Offloads activations of some layers to host memory: copied after a layer's forward pass and
// prefetched before its backward pass, both while other layers compute. These layers alternate
// between two sets of rows on the device ("offload.0.NAME", "offload.1.NAME") and have rows of
// their own in host memory ("host.PLACE.NAME").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/async/lane.h"
#include "core/device/context.h"
#include "spec/rows/transformer_table.h"
#include "spec/table/placed_tensors.h"

namespace ingot {

class ActivationOffload {
 public:
  // Of the layers named by offload_place() the last two stay on the device.
  ActivationOffload(Context& ctx, const PlacedTensors& placed, int64_t num_layers,
                    int64_t num_offloaded);

  // Call these around each layer's passes of a training micro-step, for every layer.
  void before_forward(int64_t layer);
  void after_forward(int64_t layer);
  void before_backward(int64_t layer);
  void after_backward(int64_t layer);

 private:
  using Place = std::optional<int64_t>;
  Place place_of(int64_t layer) const { return offload_place(layer, num_layers_, num_offloaded_); }
  bool stored(int64_t place) const { return is_copied_to_host(place, num_offloaded_); }
  const std::vector<Tensor>& set_of(int64_t place) const {
    return sets_[static_cast<size_t>(place % 2)];
  }
  void move(int64_t place, const std::vector<Tensor>& from, const std::vector<Tensor>& to);
  void wait_for(int64_t place) { compute_->after(tickets_[static_cast<size_t>(place)]); }

  std::vector<Tensor> sets_[2];              // on the device
  std::vector<std::vector<Tensor>> stored_;  // by place: their copies in host memory
  int64_t num_layers_, num_offloaded_;
  std::unique_ptr<Lane> compute_, copies_;
  std::vector<Ticket> tickets_;  // by place: the latest copy of each stored layer
};

}  // namespace ingot
