// A tensor table laid out in memory: row → tensor.
#pragma once

#include <optional>

#include "core/device/arena.h"
#include "spec/table/tensor_table.h"

namespace ingot {

class PlacedTensors {
 public:
  // Plans the table and allocates exactly what the plan says: total_bytes on the device, and host
  // memory if rows ask for it.
  PlacedTensors(const TensorTable& table, Device device);

  Tensor operator[](TensorId id) const;
  Tensor find(std::string_view name) const;      // throws if absent
  Tensor try_find(std::string_view name) const;  // undefined tensor if absent
  const TensorTable& table() const { return table_; }
  const MemoryPlan& plan() const { return plan_; }
  Tensor device_memory() const;                               // all of it as one tensor, U8
  int64_t allocated_bytes() const { return arena_.bytes(); }  // on the device
  int64_t pinned_bytes() const { return pinned_ ? pinned_->bytes() : 0; }
  int64_t host_bytes() const { return host_ ? host_->bytes() : 0; }

 private:
  const Arena& arena_of(MemorySpace space) const;

  TensorTable table_;
  MemoryPlan plan_;
  Arena arena_;
  std::optional<Arena> pinned_, host_;  // only if a row lies there
};

}  // namespace ingot
