// Activations of some layers in host memory: they are put away after a layer's forward pass and
// fetched before its backward pass, both while other layers compute. Such layers share two sets of
// rows on the device ("offload.0.NAME", "offload.1.NAME"), taken in turn.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/context.h"
#include "core/host_memory.h"
#include "spec/llama_table.h"
#include "spec/placed_tensors.h"

namespace ingot {

class ActivationOffload {
 public:
  // Of those that offload_place() names the last two stay where they are.
  ActivationOffload(Context& ctx, const PlacedTensors& placed, int64_t num_layers,
                    int64_t num_offloaded);

  // Around each layer's passes of a training micro-step, whichever layers those are.
  void before_forward(int64_t layer);
  void after_forward(int64_t layer);
  void before_backward(int64_t layer);
  void after_backward(int64_t layer);

 private:
  using Place = std::optional<int64_t>;
  Place place_of(int64_t layer) const { return offload_place(layer, num_layers_, num_offloaded_); }
  bool stored(int64_t place) const { return place >= 0 && place < num_offloaded_ - 2; }
  const std::vector<Tensor>& set_of(int64_t place) const {
    return sets_[static_cast<size_t>(place % 2)];
  }
  void wait_for(int64_t place) { memory_->wait_for(tickets_[static_cast<size_t>(place)]); }

  std::vector<Tensor> sets_[2];
  int64_t num_layers_, num_offloaded_;
  int64_t layer_bytes_ = 0;
  std::unique_ptr<HostMemory> memory_;
  std::vector<int64_t> tickets_;  // by place, of those stored: of its latest copy
};

}  // namespace ingot
