// A tensor table laid out in an arena: row → tensor.
#pragma once

#include "core/arena.h"
#include "spec/tensor_table.h"

namespace ingot {

class PlacedTensors {
 public:
  // Plans the table and takes exactly plan.total_bytes from the device.
  PlacedTensors(const TensorTable& table, Device device);

  Tensor operator[](TensorId id) const;
  Tensor find(std::string_view name) const;      // throws when absent
  Tensor try_find(std::string_view name) const;  // undefined tensor when absent
  const TensorTable& table() const { return table_; }
  const MemoryPlan& plan() const { return plan_; }
  int64_t allocated_bytes() const { return arena_.bytes(); }

 private:
  TensorTable table_;
  MemoryPlan plan_;
  Arena arena_;
};

}  // namespace ingot
