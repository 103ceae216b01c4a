#include "model/offload.h"

namespace ingot {

ActivationOffload::ActivationOffload(Context& ctx, const PlacedTensors& placed, int64_t num_layers,
                                     int64_t num_offloaded)
    : num_layers_(num_layers), num_offloaded_(num_offloaded) {
  for (int set = 0; set < 2; ++set)
    for (const TensorSpec& row : placed.table().rows())
      if (row.name.starts_with(offload_name(set, ""))) sets_[set].push_back(placed.find(row.name));
  for (const Tensor& tensor : sets_[0]) layer_bytes_ += tensor.bytes();
  const int64_t host_bytes = offload_host_bytes(placed.table(), num_offloaded);
  if (host_bytes == 0) return;
  memory_ = make_host_memory(ctx, host_bytes);
  tickets_.resize(static_cast<size_t>(num_offloaded - 2));
}

void ActivationOffload::before_forward(int64_t layer) {
  // The set is free when who had it before has been put away.
  if (const Place place = place_of(layer); place && stored(*place - 2)) wait_for(*place - 2);
}

void ActivationOffload::after_forward(int64_t layer) {
  const Place place = place_of(layer);
  if (!place || !stored(*place)) return;
  int64_t offset = *place * layer_bytes_;
  for (const Tensor& tensor : set_of(*place)) {
    memory_->put(tensor, offset);
    offset += tensor.bytes();
  }
  tickets_[static_cast<size_t>(*place)] = memory_->ticket();
}

void ActivationOffload::before_backward(int64_t layer) {
  if (const Place place = place_of(layer); place && stored(*place)) wait_for(*place);
}

void ActivationOffload::after_backward(int64_t layer) {
  const Place place = place_of(layer);
  if (!place || !stored(*place - 2)) return;
  const int64_t next = *place - 2;  // takes the set over
  int64_t offset = next * layer_bytes_;
  for (const Tensor& tensor : set_of(next)) {
    memory_->fetch(offset, tensor);
    offset += tensor.bytes();
  }
  tickets_[static_cast<size_t>(next)] = memory_->ticket();
}

}  // namespace ingot
