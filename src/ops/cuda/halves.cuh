// F32 numbers in two halves (ops/halves.h), in registers.
#pragma once

#include <cstdint>

namespace ingot::cuda {

__device__ __forceinline__ float join_halves(uint16_t high, uint16_t low) {
  const auto signed_low = static_cast<uint32_t>(static_cast<int32_t>(static_cast<int16_t>(low)));
  return __uint_as_float((static_cast<uint32_t>(high) << 16) + signed_low);
}
__device__ __forceinline__ uint16_t high_half(float exact) {
  return static_cast<uint16_t>((__float_as_uint(exact) + 0x8000u) >> 16);
}
__device__ __forceinline__ uint16_t low_half(float exact) {
  return static_cast<uint16_t>(__float_as_uint(exact));
}

}  // namespace ingot::cuda
