// Activations of the first layers in host memory: they are put away after a layer's forward pass
// and fetched before its backward pass, both while other layers compute. Such layers share two sets
// of rows on the device ("offload.0.NAME", "offload.1.NAME"), taken in turn.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/context.h"
#include "core/host_memory.h"
#include "spec/placed_tensors.h"

namespace ingot {

class ActivationOffload {
 public:
  // `num_layers`: the first so many; the last two of them stay where they are.
  ActivationOffload(Context& ctx, const PlacedTensors& placed, int64_t num_layers);

  // Around each layer's passes of a training micro-step, whichever layers those are.
  void before_forward(int64_t layer);
  void after_forward(int64_t layer);
  void before_backward(int64_t layer);
  void after_backward(int64_t layer);

  int64_t host_bytes() const { return num_stored_ * layer_bytes_; }

 private:
  bool stored(int64_t layer) const { return layer < num_stored_; }
  const std::vector<Tensor>& set_of(int64_t layer) const {
    return sets_[static_cast<size_t>(layer % 2)];
  }

  std::vector<Tensor> sets_[2];
  int64_t num_stored_;
  int64_t layer_bytes_ = 0;
  std::unique_ptr<HostMemory> memory_;
  std::vector<int64_t> tickets_;  // by stored layer: of its latest copy
};

}  // namespace ingot
