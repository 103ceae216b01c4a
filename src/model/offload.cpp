#include "model/offload.h"

#include <algorithm>

#include "spec/llama_table.h"

namespace ingot {

ActivationOffload::ActivationOffload(Context& ctx, const PlacedTensors& placed, int64_t num_layers)
    : num_stored_(std::max<int64_t>(0, num_layers - 2)) {
  for (int set = 0; set < 2; ++set)
    for (const TensorSpec& row : placed.table().rows())
      if (row.name.starts_with(offload_name(set, ""))) sets_[set].push_back(placed.find(row.name));
  for (const Tensor& tensor : sets_[0]) layer_bytes_ += tensor.bytes();
  if (num_stored_ == 0) return;
  memory_ = make_host_memory(ctx, host_bytes());
  tickets_.resize(static_cast<size_t>(num_stored_));
}

void ActivationOffload::before_forward(int64_t layer) {
  // The set is free when its layer before has been put away.
  if (layer >= 2 && stored(layer - 2)) memory_->wait_for(tickets_[static_cast<size_t>(layer - 2)]);
}

void ActivationOffload::after_forward(int64_t layer) {
  if (!stored(layer)) return;
  int64_t offset = layer * layer_bytes_;
  for (const Tensor& tensor : set_of(layer)) {
    memory_->put(tensor, offset);
    offset += tensor.bytes();
  }
  tickets_[static_cast<size_t>(layer)] = memory_->ticket();
}

void ActivationOffload::before_backward(int64_t layer) {
  if (stored(layer)) memory_->wait_for(tickets_[static_cast<size_t>(layer)]);
}

void ActivationOffload::after_backward(int64_t layer) {
  const int64_t next = layer - 2;  // takes the set over
  if (next < 0 || !stored(next)) return;
  int64_t offset = next * layer_bytes_;
  for (const Tensor& tensor : set_of(next)) {
    memory_->fetch(offset, tensor);
    offset += tensor.bytes();
  }
  tickets_[static_cast<size_t>(next)] = memory_->ticket();
}

}  // namespace ingot
