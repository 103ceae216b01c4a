#include "spec/placed_tensors.h"

namespace ingot {

PlacedTensors::PlacedTensors(const TensorTable& table, Device device)
    : table_(table), plan_(plan_memory(table)), arena_(device, plan_.total_bytes) {}

Tensor PlacedTensors::operator[](TensorId id) const {
  const TensorSpec& row = table_[id];
  return arena_.place(plan_.offset[static_cast<size_t>(id.row)], row.dtype, row.shape);
}

Tensor PlacedTensors::find(std::string_view name) const {
  return (*this)[table_.find(name)];
}

Tensor PlacedTensors::try_find(std::string_view name) const {
  const TensorId id = table_.try_find(name);
  return id.valid() ? (*this)[id] : Tensor{};
}

}  // namespace ingot
