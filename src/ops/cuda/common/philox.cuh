// Counter-based random numbers, as in core/random/random.h.
#pragma once

#include <cstdint>

namespace ingot::cuda {

__device__ __forceinline__ uint4 philox4x32(uint4 counter, uint32_t key0,
                                            uint32_t key1) {  // see core/random/random.cpp
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter.x;
    const uint64_t b = uint64_t{0xCD9E8D57} * counter.z;
    counter = {static_cast<uint32_t>(b >> 32) ^ counter.y ^ key0, static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter.w ^ key1, static_cast<uint32_t>(a)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

}  // namespace ingot::cuda
