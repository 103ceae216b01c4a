// Element types. Conversions round to nearest even and are exact inverses where the value fits.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ingot {

enum class DType : uint8_t { F64, F32, BF16, F16, F8E4M3, F8E5M2, I64, I32, U32, U16, U8 };

int64_t size_of(DType dtype);           // bytes per element
std::string_view name_of(DType dtype);  // "f32", "bf16", "f8e4m3", "u16", …
std::optional<DType> parse_dtype(std::string_view name);

// The accumulation dtype of `dtype`: exact weights, gradients, statistics, tables and sums use it.
// F64 for F64, else F32.
constexpr DType accumulation_dtype(DType dtype) {
  return dtype == DType::F64 ? DType::F64 : DType::F32;
}

// 16- and 8-bit floats are storage types: convert to float, compute, convert back.
struct Bf16 {
  uint16_t bits = 0;
  static Bf16 from_float(float value);
  float to_float() const;
};

struct F16 {
  uint16_t bits = 0;
  static F16 from_float(float value);  // overflow gives infinity
  float to_float() const;
};

// OCP 8-bit floats. e4m3 has no infinity: values beyond ±448 saturate, NaN stays NaN.
struct F8E4M3 {
  uint8_t bits = 0;
  static F8E4M3 from_float(float value);
  float to_float() const;
};

// e5m2 has infinity; finite values beyond ±57344 saturate, as fp8 training wants.
struct F8E5M2 {
  uint8_t bits = 0;
  static F8E5M2 from_float(float value);
  float to_float() const;
};

}  // namespace ingot
