// What a BF16 weight is that keeps its low half beside it (ops/halves.h), written out once more.
#pragma once

#include <bit>
#include <cstdint>

namespace ingot::test {

inline uint16_t rounded_half(float exact) {  // to nearest, a tie away from zero
  const auto bits = std::bit_cast<uint32_t>(exact);
  const uint32_t rest = bits & 0xffffu;
  return static_cast<uint16_t>((bits >> 16) + (rest >= 0x8000u ? 1u : 0u));
}

}  // namespace ingot::test
