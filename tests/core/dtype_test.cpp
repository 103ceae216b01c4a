#include "core/tensor/dtype.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/random/random.h"
#include "core/tensor/visit_dtype.h"

namespace ingot {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// A format as its definition states it: the value of a code, in double, by the IEEE formula.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  int codes;       // finite magnitudes: codes 0 … codes-1
  bool saturates;  // or goes to infinity
};

double value_of(const Format& f, int code) {
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const int exponent = code >> f.mantissa_bits;
  const double fraction = (code & ((1 << f.mantissa_bits) - 1)) / std::exp2(f.mantissa_bits);
  return exponent == 0 ? fraction * std::exp2(1 - bias)
                       : (1.0 + fraction) * std::exp2(exponent - bias);
}

// Nearest, ties to the even code, found by search among all values of the format.
int nearest_code(const Format& f, const std::vector<double>& values, double magnitude) {
  const auto above = std::lower_bound(values.begin(), values.end(), magnitude);
  if (above == values.begin()) return 0;
  if (above == values.end()) {
    // The next value, if there were one, decides where overflow begins.
    const double limit = (values.back() + value_of(f, f.codes)) / 2;
    return f.saturates || magnitude < limit ? f.codes - 1 : f.codes;
  }
  const int high = static_cast<int>(above - values.begin());
  const double to_high = *above - magnitude;
  const double to_low = magnitude - *(above - 1);
  if (to_high == to_low) return high % 2 == 0 ? high : high - 1;
  return to_high < to_low ? high : high - 1;
}

std::vector<double> values_of(const Format& f) {
  std::vector<double> values;
  for (int code = 0; code < f.codes; ++code) values.push_back(value_of(f, code));
  return values;
}

constexpr Format kBf16{8, 7, 0x7f80, false};
constexpr Format kF16{5, 10, 0x7c00, false};
constexpr Format kE4M3{4, 3, 0x7f, true};
constexpr Format kE5M2{5, 2, 0x7c, true};

template <class T>
void expect_every_pattern_returns() {
  constexpr int kBits = 8 * sizeof(T::bits);
  for (uint32_t pattern = 0; pattern < (1u << kBits); ++pattern) {
    T value;
    value.bits = static_cast<decltype(value.bits)>(pattern);
    const float f = value.to_float();
    const T back = T::from_float(f);
    if (std::isnan(f)) {
      EXPECT_TRUE(std::isnan(back.to_float())) << pattern;
    } else {
      EXPECT_EQ(back.bits, value.bits) << pattern;
    }
  }
}

template <class T>
void expect_values(const Format& format) {
  constexpr int kBits = 8 * sizeof(T::bits);
  for (int code = 0; code < format.codes; ++code) {
    T value;
    value.bits = static_cast<decltype(value.bits)>(code);
    ASSERT_EQ(static_cast<double>(value.to_float()), value_of(format, code)) << code;
    value.bits = static_cast<decltype(value.bits)>(code | (1 << (kBits - 1)));
    ASSERT_EQ(static_cast<double>(value.to_float()), -value_of(format, code)) << code;
  }
}

template <class T>
void expect_rounds_to_nearest_even(const Format& format) {
  constexpr int kBits = 8 * sizeof(T::bits);
  const std::vector<double> values = values_of(format);
  const auto expect = [&](float f) {
    const int code = nearest_code(format, values, std::abs(static_cast<double>(f)));
    const int sign = std::signbit(f) ? 1 << (kBits - 1) : 0;
    ASSERT_EQ(T::from_float(f).bits, code | sign) << f;
  };
  // Every midpoint between neighbours, and the floats beside it.
  for (size_t code = 0; code + 1 < values.size(); ++code) {
    const float middle = static_cast<float>((values[code] + values[code + 1]) / 2);
    expect(middle);
    expect(-middle);
    expect(std::nextafter(middle, 0.0f));
    expect(std::nextafter(middle, kInfinity));
  }
  // Floats of all magnitudes, beyond both ends of the format.
  const RandomStream random(1, Purpose::Test);
  for (uint64_t i = 0; i < 200000; ++i) {
    const float f = std::bit_cast<float>(random.bits(i));
    if (std::isfinite(f)) expect(f);
  }
}

TEST(DType, EveryBf16PatternRoundTrips) {
  expect_every_pattern_returns<Bf16>();
}
TEST(DType, EveryF16PatternRoundTrips) {
  expect_every_pattern_returns<F16>();
}
TEST(DType, EveryE4M3PatternRoundTrips) {
  expect_every_pattern_returns<F8E4M3>();
}
TEST(DType, EveryE5M2PatternRoundTrips) {
  expect_every_pattern_returns<F8E5M2>();
}

TEST(DType, EveryFinitePatternHasTheValueOfItsDefinition) {
  expect_values<Bf16>(kBf16);
  expect_values<F16>(kF16);
  expect_values<F8E4M3>(kE4M3);
  expect_values<F8E5M2>(kE5M2);
}

TEST(DType, Bf16RoundsToNearestEven) {
  expect_rounds_to_nearest_even<Bf16>(kBf16);
}
TEST(DType, F16RoundsToNearestEven) {
  expect_rounds_to_nearest_even<F16>(kF16);
}
TEST(DType, E4M3RoundsToNearestEven) {
  expect_rounds_to_nearest_even<F8E4M3>(kE4M3);
}
TEST(DType, E5M2RoundsToNearestEven) {
  expect_rounds_to_nearest_even<F8E5M2>(kE5M2);
}

TEST(DType, OverflowIsInfinityInF16AndSaturatesInFp8) {
  EXPECT_EQ(F16::from_float(65520.0f).to_float(), kInfinity);
  EXPECT_EQ(F16::from_float(65519.0f).to_float(), 65504.0f);
  EXPECT_EQ(F8E4M3::from_float(1e9f).to_float(), 448.0f);
  EXPECT_EQ(F8E4M3::from_float(-kInfinity).to_float(), -448.0f);
  EXPECT_EQ(F8E5M2::from_float(1e9f).to_float(), 57344.0f);
  EXPECT_EQ(F8E5M2::from_float(-kInfinity).to_float(), -kInfinity);
}

TEST(DType, NaNStaysNaN) {
  EXPECT_TRUE(std::isnan(Bf16::from_float(kNaN).to_float()));
  // All mantissa bits low: truncation alone would make it infinity.
  EXPECT_TRUE(std::isnan(Bf16::from_float(std::bit_cast<float>(0x7f800001u)).to_float()));
  EXPECT_TRUE(std::isnan(Bf16::from_float(std::bit_cast<float>(0x7fffffffu)).to_float()));
  EXPECT_TRUE(std::isnan(F16::from_float(kNaN).to_float()));
  EXPECT_TRUE(std::isnan(F8E4M3::from_float(kNaN).to_float()));
  EXPECT_TRUE(std::isnan(F8E5M2::from_float(kNaN).to_float()));
}

TEST(DType, NamesParseBackAndSizesMatchTheNames) {
  for (int i = 0; i <= static_cast<int>(DType::U8); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(name_of(dtype)), dtype);
    const std::string name(name_of(dtype));
    const size_t digit = name.find_first_of("123456789");
    EXPECT_EQ(size_of(dtype) * 8, std::stoi(name.substr(digit))) << name;
  }
  EXPECT_EQ(parse_dtype("float"), std::nullopt);
}

TEST(DType, VisitsTheElementTypeOfListedDtypesAlone) {
  size_t bytes = 0;
  const auto visit = [&](auto element) { bytes = sizeof(element); };
  EXPECT_TRUE((visit_dtype<DType::F64, DType::U16>(DType::U16, visit)));
  EXPECT_EQ(bytes, 2u);
  EXPECT_TRUE((visit_dtype<DType::F64, DType::U16>(DType::F64, visit)));
  EXPECT_EQ(bytes, 8u);
  EXPECT_FALSE((visit_dtype<DType::F64, DType::U16>(DType::BF16, visit)));
  EXPECT_EQ(bytes, 8u);
}

}  // namespace
}  // namespace ingot
