#include "spec/table/placed_tensors.h"

namespace ingot {

PlacedTensors::PlacedTensors(const TensorTable& table, Device device)
    : table_(table), plan_(plan_memory(table)), arena_(device, plan_.total_bytes) {
  if (plan_.pinned_bytes > 0) pinned_.emplace(device, plan_.pinned_bytes, MemorySpace::Pinned);
  if (plan_.host_bytes > 0) host_.emplace(device, plan_.host_bytes, MemorySpace::Host);
}

const Arena& PlacedTensors::arena_of(MemorySpace space) const {
  if (space == MemorySpace::Pinned && pinned_) return *pinned_;
  if (space == MemorySpace::Host && host_) return *host_;
  return arena_;  // also for rows of no bytes at all
}

Tensor PlacedTensors::device_memory() const {
  return arena_.place(0, DType::U8, {arena_.bytes()});
}

Tensor PlacedTensors::operator[](TensorId id) const {
  const TensorSpec& row = table_[id];
  return arena_of(row.space).place(plan_.offset[static_cast<size_t>(id.row)], row.dtype, row.shape);
}

Tensor PlacedTensors::find(std::string_view name) const {
  return (*this)[table_.find(name)];
}

Tensor PlacedTensors::try_find(std::string_view name) const {
  const TensorId id = table_.try_find(name);
  return id.valid() ? (*this)[id] : Tensor{};
}

}  // namespace ingot
