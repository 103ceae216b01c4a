// Moves bytes in the widest unit that their alignment allows.
#pragma once

#include <cstdint>

#include "core/cuda/launch.h"

namespace ingot::cuda {

// Calls f(Unit{}) with the widest type, of 16 to 1 bytes, whose size divides all values combined in
// `or_of_all`: addresses, strides and widths in bytes, or-ed together.
template <class F>
void with_unit(uint64_t or_of_all, const F& f) {
  if (or_of_all % 16 == 0) return f(uint4{});
  if (or_of_all % 8 == 0) return f(uint2{});
  if (or_of_all % 4 == 0) return f(uint32_t{});
  if (or_of_all % 2 == 0) return f(uint16_t{});
  return f(uint8_t{});
}

inline uint64_t address_of(const void* data) {
  return reinterpret_cast<uintptr_t>(data);
}

}  // namespace ingot::cuda
