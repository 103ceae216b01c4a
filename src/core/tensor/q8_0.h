// The quantizer of Q8_0, as in ggml: blocks of 32 numbers share a scale. Weights of GGUF files,
// packed weights and their inputs all come from here.
#pragma once

#include <cstdint>
#include <cstring>

namespace ingot {

inline constexpr int64_t kQ8Block = 32;

// codes[i] = values[i] / scale, rounded to the nearest integer with halves away from zero; returns
// the scale, which is the largest magnitude / 127 (for infinity and NaN: not finite). Codes are
// -127 to 127. The result is the same whether or not denormal numbers count as zero. Always
// inlined, so that each kernel gets it in its own instruction set; the caller's file must be
// compiled without contraction to FMA.
[[gnu::always_inline]] inline float quantize_q8_0(const float* values, int8_t* codes) {
  uint32_t largest_bits = 0;
  for (int64_t i = 0; i < kQ8Block; ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, values + i, sizeof bits);
    bits &= 0x7fffffffu;
    largest_bits = bits > largest_bits ? bits : largest_bits;
  }
  float largest = 0;
  std::memcpy(&largest, &largest_bits, sizeof largest);
  // Below, the 16-bit scale is 0 anyway, and denormal values would decide codes.
  constexpr float kSmallest = 0x1p-125f, kLargest = 0x1.fffffep+127f;
  const float scale = largest / 127.0f;
  if (!(scale >= kSmallest && scale <= kLargest)) {  // infinity and NaN stay in the scale
    std::memset(codes, 0, kQ8Block);
    return scale < kSmallest ? 0.0f : scale;
  }
  const float inverse = 1.0f / scale;
  for (int64_t i = 0; i < kQ8Block; ++i) {
    const float quotient = values[i] * inverse;
    // The largest float below a half: adding a half itself would round 0.49999997 up.
    const float half = quotient < 0 ? -0x1.fffffep-2f : 0x1.fffffep-2f;
    codes[i] = static_cast<int8_t>(static_cast<int32_t>(quotient + half));
  }
  return scale;
}

}  // namespace ingot
