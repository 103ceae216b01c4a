#include "core/tensor/dtype.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace ingot {
namespace {

struct DTypeFacts {
  std::string_view name;
  int64_t size;
};

// In the order of the enumeration.
constexpr std::array<DTypeFacts, 11> kFacts = {{{"f64", 8},
                                                {"f32", 4},
                                                {"bf16", 2},
                                                {"f16", 2},
                                                {"f8e4m3", 1},
                                                {"f8e5m2", 1},
                                                {"i64", 8},
                                                {"i32", 4},
                                                {"u32", 4},
                                                {"u16", 2},
                                                {"u8", 1}}};

const DTypeFacts& facts_of(DType dtype) {
  return kFacts[static_cast<size_t>(dtype)];
}

constexpr uint32_t kMagnitude = 0x7fffffff;
constexpr uint32_t kInfinity = 0x7f800000;

// An IEEE-like format of E exponent and M mantissa bits. Codes below are magnitudes: no sign bit.
template <int E, int M>
struct SmallFloat {
  static constexpr int kBias = (1 << (E - 1)) - 1;

  // Drops the low `shift` bits of `value`, to nearest, ties to even.
  static uint32_t round_shift(uint32_t value, int shift) {
    const uint32_t half = 1u << (shift - 1);
    return (value + half - 1 + ((value >> shift) & 1u)) >> shift;
  }

  // The nearest code to the finite float magnitude `bits`, as if the exponent had no upper end:
  // the caller decides what overflow means.
  static uint32_t nearest_code(uint32_t bits) {
    const int exponent = static_cast<int>(bits >> 23) - 127 + kBias;
    if (exponent >= 1) return round_shift(bits - (uint32_t{127 - kBias} << 23), 23 - M);
    const int shift = 23 - M + 1 - exponent;
    if (shift > 24) return 0;  // below half the smallest subnormal
    return round_shift((bits & 0x7fffffu) | 0x800000u, shift);
  }

  static float value_of(uint32_t code) {
    const int exponent = static_cast<int>(code >> M);
    const int mantissa = static_cast<int>(code & ((1u << M) - 1u));
    if (exponent == 0) return std::ldexp(static_cast<float>(mantissa), 1 - kBias - M);
    return std::ldexp(static_cast<float>(mantissa + (1 << M)), exponent - kBias - M);
  }
};

using Half = SmallFloat<5, 10>;
using E4M3 = SmallFloat<4, 3>;
using E5M2 = SmallFloat<5, 2>;

float with_sign(float magnitude, bool negative) {
  return negative ? -magnitude : magnitude;
}

}  // namespace

int64_t size_of(DType dtype) {
  return facts_of(dtype).size;
}

std::string_view name_of(DType dtype) {
  return facts_of(dtype).name;
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (size_t i = 0; i < kFacts.size(); ++i) {
    if (kFacts[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

Bf16 Bf16::from_float(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  // A NaN is made quiet rather than rounded: rounding could carry it into infinity.
  if ((bits & kMagnitude) > kInfinity) return {static_cast<uint16_t>((bits >> 16) | 0x40u)};
  return {static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

float Bf16::to_float() const {
  return std::bit_cast<float>(uint32_t{bits} << 16);
}

F16 F16::from_float(float value) {
  const uint32_t all = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = all & kMagnitude;
  const uint32_t sign = (all >> 16) & 0x8000u;
  if (magnitude > kInfinity) return {static_cast<uint16_t>(sign | 0x7e00u)};
  const uint32_t code = magnitude == kInfinity ? 0x7c00u : Half::nearest_code(magnitude);
  return {static_cast<uint16_t>(sign | std::min(code, 0x7c00u))};
}

float F16::to_float() const {
  const uint32_t code = bits & 0x7fffu;
  const bool negative = (bits & 0x8000u) != 0;
  if (code < 0x7c00u) return with_sign(Half::value_of(code), negative);
  return with_sign(std::bit_cast<float>(kInfinity | ((code & 0x3ffu) << 13)), negative);
}

F8E4M3 F8E4M3::from_float(float value) {
  const uint32_t all = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = all & kMagnitude;
  const uint32_t sign = (all >> 24) & 0x80u;
  if (magnitude > kInfinity) return {static_cast<uint8_t>(sign | 0x7fu)};
  const uint32_t code = magnitude == kInfinity ? 0x7eu : E4M3::nearest_code(magnitude);
  return {static_cast<uint8_t>(sign | std::min(code, 0x7eu))};
}

float F8E4M3::to_float() const {
  const uint32_t code = bits & 0x7fu;
  const bool negative = (bits & 0x80u) != 0;
  if (code == 0x7fu) return with_sign(std::bit_cast<float>(kInfinity | 0x400000u), negative);
  return with_sign(E4M3::value_of(code), negative);
}

F8E5M2 F8E5M2::from_float(float value) {
  const uint32_t all = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = all & kMagnitude;
  const uint32_t sign = (all >> 24) & 0x80u;
  if (magnitude > kInfinity) return {static_cast<uint8_t>(sign | 0x7eu)};
  if (magnitude == kInfinity) return {static_cast<uint8_t>(sign | 0x7cu)};
  return {static_cast<uint8_t>(sign | std::min(E5M2::nearest_code(magnitude), 0x7bu))};
}

float F8E5M2::to_float() const {
  const uint32_t code = bits & 0x7fu;
  const bool negative = (bits & 0x80u) != 0;
  if (code < 0x7cu) return with_sign(E5M2::value_of(code), negative);
  return with_sign(std::bit_cast<float>(kInfinity | ((code & 3u) << 21)), negative);
}

}  // namespace ingot
