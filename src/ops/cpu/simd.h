// Short vectors for the kernels: GCC vector extensions as wide as the ISA, so that one source
// serves all ISAs.
//
// Include it last, in place of isa_begin.h (or after it). A kernel is a template over the storage
// type T (float, Bf16, double) and computes in Compute<T>:
//   using V = VectorOf<T>;
//   for (i = 0; i + kLanes<T> <= n; i += kLanes<T>) store(y + i, load(x + i) * broadcast<T>(a));
//   if (i < n) store_partial(y + i, load_partial(x + i, n - i) * broadcast<T>(a), n - i);
// or for_each_vector(), which does both parts. Plain operators (+ - * / < ? :) work on vectors; a
// multiplication and an addition are fused only by fma().
//
// exp, log and tanh are within 1.5 ulp of the exact value over the whole float range (including
// infinities, zeros and subnormals). sigmoid is within 2.5 ulp down to -87 and 0 from -89. NaN
// comes out exactly where libm gives NaN. On doubles they call libm lane by lane, since F64 is for
// checks, not for speed.
#pragma once

// Code above isa_begin.h is compiled for the baseline ISA, also if this is included after it.
#pragma GCC push_options
#pragma GCC reset_options
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#if !defined(INGOT_ISA_generic)
// g++ 12 warns about the "undefined" operand of its own AVX-512 intrinsics.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

#include "core/tensor/dtype.h"
#pragma GCC pop_options

#include "core/device/isa_begin.h"

#define INGOT_SIMD [[gnu::always_inline]] inline

namespace ingot::cpu::INGOT_ISA {

#if defined(INGOT_ISA_avx512)
inline constexpr int kVectorBytes = 64;
#elif defined(INGOT_ISA_avx2)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

typedef float FloatV __attribute__((vector_size(kVectorBytes)));
typedef double DoubleV __attribute__((vector_size(kVectorBytes)));
typedef int32_t IntV __attribute__((vector_size(kVectorBytes)));            // a FloatV's bits
typedef uint32_t UintV __attribute__((vector_size(kVectorBytes)));          // the same, unsigned
typedef uint16_t HalfBitsV __attribute__((vector_size(kVectorBytes / 2)));  // kLanes<Bf16> of bf16

// The type of arithmetic on stored T: float for the 16-bit types, else T itself.
template <class T>
using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;
template <class T>
struct VectorFor {
  using type = FloatV;
};
template <>
struct VectorFor<double> {
  using type = DoubleV;
};
template <class T>
using VectorOf = typename VectorFor<T>::type;
template <class T>
inline constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(Compute<T>));

// The same bits under another type of the same size.
template <class To, class From>
INGOT_SIMD To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// ---- memory: no alignment needed; partial forms touch only the first n elements
// -------------------

INGOT_SIMD FloatV load(const float* p) {
  FloatV v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
INGOT_SIMD DoubleV load(const double* p) {
  DoubleV v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
INGOT_SIMD FloatV load(const Bf16* p) {
  HalfBitsV half;
  std::memcpy(&half, p, sizeof half);
  return bits_as<FloatV>(__builtin_convertvector(half, UintV) << 16);
}

INGOT_SIMD void store(float* p, FloatV v) {
  std::memcpy(p, &v, sizeof v);
}
INGOT_SIMD void store(double* p, DoubleV v) {
  std::memcpy(p, &v, sizeof v);
}
// The bf16 nearest to each lane, ties to even. A NaN stays a NaN: its top mantissa bit is set as in
// Bf16::from_float, since truncation could make it infinite.
INGOT_SIMD HalfBitsV to_bf16_bits(FloatV v) {
  const UintV bits = bits_as<UintV>(v);
  const UintV rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  const UintV chosen = (v == v ? rounded : bits | 0x400000u) >> 16;
  return __builtin_convertvector(chosen, HalfBitsV);
}
INGOT_SIMD void store(Bf16* p, FloatV v) {
  const HalfBitsV half = to_bf16_bits(v);
  std::memcpy(&p->bits, &half, sizeof half);
}

// Lanes from n on are zero. 0 <= n <= kLanes<T>.
template <class T>
INGOT_SIMD VectorOf<T> load_partial(const T* p, int64_t n) {
  T lanes[kLanes<T>] = {};
  for (int64_t i = 0; i < n; ++i) lanes[i] = p[i];
  return load(lanes);
}
template <class T>
INGOT_SIMD void store_partial(T* p, VectorOf<T> v, int64_t n) {
  T lanes[kLanes<T>];
  store(lanes, v);
  for (int64_t i = 0; i < n; ++i) p[i] = lanes[i];
}

// `n` F32 in two halves (ops/halves.h); further lanes are zero.
template <class Count>
INGOT_SIMD FloatV load_halves(const Bf16* high, const uint16_t* low, Count n) {
  HalfBitsV highs = {}, lows = {};
  std::memcpy(&highs, &high->bits, static_cast<size_t>(n) * sizeof *high);
  std::memcpy(&lows, low, static_cast<size_t>(n) * sizeof *low);
  const UintV signed_low = (__builtin_convertvector(lows, UintV) ^ 0x8000u) - 0x8000u;
  return bits_as<FloatV>((__builtin_convertvector(highs, UintV) << 16) + signed_low);
}
template <class Count>
INGOT_SIMD void store_halves(Bf16* high, uint16_t* low, FloatV exact, Count n) {
  const UintV bits = bits_as<UintV>(exact);
  const HalfBitsV highs = __builtin_convertvector((bits + 0x8000u) >> 16, HalfBitsV);
  const HalfBitsV lows = __builtin_convertvector(bits, HalfBitsV);
  std::memcpy(&high->bits, &highs, static_cast<size_t>(n) * sizeof *high);
  std::memcpy(low, &lows, static_cast<size_t>(n) * sizeof *low);
}

// One element, through Compute<T>, rounded as the vectors are.
INGOT_SIMD float load_scalar(const float* p) {
  return *p;
}
INGOT_SIMD double load_scalar(const double* p) {
  return *p;
}
INGOT_SIMD float load_scalar(const Bf16* p) {
  return bits_as<float>(static_cast<uint32_t>(p->bits) << 16);
}

template <class T>
INGOT_SIMD VectorOf<T> broadcast(Compute<T> value) {
  return VectorOf<T>{} + value;
}

// Calls f(offset, count) over [0, n) in steps of kLanes<T>. count is kLanes<T> as a compile-time
// constant, except for a shorter last piece. Use it with load_n and store_n.
template <class T, class F>
INGOT_SIMD void for_each_vector(int64_t n, F f) {
  int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) f(i, std::integral_constant<int64_t, kLanes<T>>{});
  if (i < n) f(i, n - i);
}
template <class T, class Count>
INGOT_SIMD VectorOf<T> load_n(const T* p, Count count) {
  if constexpr (std::is_integral_v<Count>) {
    return load_partial(p, count);
  } else {
    return load(p);
  }
}
template <class T, class Count>
INGOT_SIMD void store_n(T* p, VectorOf<T> v, Count count) {
  if constexpr (std::is_integral_v<Count>) {
    store_partial(p, v, count);
  } else {
    store(p, v);
  }
}

// ---- arithmetic
// -----------------------------------------------------------------------------------

// a·b + c, rounded once if the ISA has FMA (generic rounds twice).
INGOT_SIMD FloatV fma(FloatV a, FloatV b, FloatV c) {
#if defined(INGOT_ISA_avx512)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(INGOT_ISA_avx2)
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}
INGOT_SIMD DoubleV fma(DoubleV a, DoubleV b, DoubleV c) {
#if defined(INGOT_ISA_avx512)
  return _mm512_fmadd_pd(a, b, c);
#elif defined(INGOT_ISA_avx2)
  return _mm256_fmadd_pd(a, b, c);
#else
  return a * b + c;
#endif
}

// b if either is NaN, as in hardware: max(x, NaN) is NaN, max(NaN, x) is x.
template <class V>
INGOT_SIMD V max(V a, V b) {
  return a > b ? a : b;
}
template <class V>
INGOT_SIMD V min(V a, V b) {
  return a < b ? a : b;
}

template <class V>
INGOT_SIMD V map_lanes(V v, auto f) {
  V result{};
  for (size_t i = 0; i < sizeof(V) / sizeof(v[0]); ++i) result[i] = f(v[i]);
  return result;
}

INGOT_SIMD FloatV sqrt(FloatV v) {
#if defined(INGOT_ISA_avx512)
  return _mm512_sqrt_ps(v);
#elif defined(INGOT_ISA_avx2)
  return _mm256_sqrt_ps(v);
#else
  return map_lanes(v, [](float x) { return std::sqrt(x); });
#endif
}
INGOT_SIMD DoubleV sqrt(DoubleV v) {
#if defined(INGOT_ISA_avx512)
  return _mm512_sqrt_pd(v);
#elif defined(INGOT_ISA_avx2)
  return _mm256_sqrt_pd(v);
#else
  return map_lanes(v, [](double x) { return std::sqrt(x); });
#endif
}

// Folds the upper half of the lanes onto the lower half until one is left, in a fixed order.
template <class V, class F>
INGOT_SIMD auto fold_lanes(V v, F f) {
  using Element = std::remove_cvref_t<decltype(v[0])>;
  constexpr size_t kCount = sizeof(V) / sizeof(Element);
  if constexpr (kCount == 2) {
    typedef Element Pair __attribute__((vector_size(2 * sizeof(Element))));
    const Pair swapped = __builtin_shufflevector(v, v, 1, 0);
    return f(v, swapped)[0];
  } else if constexpr (sizeof(V) == 16) {
    V folded = f(v, __builtin_shufflevector(v, v, 2, 3, 0, 1));
    folded = f(folded, __builtin_shufflevector(folded, folded, 1, 0, 3, 2));
    return folded[0];
  } else {
    typedef Element Half __attribute__((vector_size(sizeof(V) / 2)));
    Half halves[2];
    std::memcpy(halves, &v, sizeof v);
    return fold_lanes(f(halves[0], halves[1]), f);
  }
}
template <class V>
INGOT_SIMD auto horizontal_sum(V v) {
  return fold_lanes(
      v, [](auto a, auto b) __attribute__((always_inline)) { return a + b; });
}
template <class V>
INGOT_SIMD auto horizontal_max(V v) {
  return fold_lanes(
      v, [](auto a, auto b) __attribute__((always_inline)) { return a > b ? a : b; });
}

// The two halves of a FloatV as doubles, for sums that must not lose digits.
INGOT_SIMD DoubleV lower_doubles(FloatV v) {
  typedef float Half __attribute__((vector_size(kVectorBytes / 2)));
  Half half;
  std::memcpy(&half, &v, sizeof half);
  return __builtin_convertvector(half, DoubleV);
}
INGOT_SIMD DoubleV upper_doubles(FloatV v) {
  typedef float Half __attribute__((vector_size(kVectorBytes / 2)));
  Half half;
  std::memcpy(&half, reinterpret_cast<const char*>(&v) + sizeof half, sizeof half);
  return __builtin_convertvector(half, DoubleV);
}

// ---- functions
// ------------------------------------------------------------------------------------

// Σ c[i]·xⁱ by Horner's rule.
template <size_t kTerms>
INGOT_SIMD FloatV polynomial(FloatV x, const float (&c)[kTerms]) {
  FloatV p = broadcast<float>(c[kTerms - 1]);
  for (size_t i = kTerms - 1; i-- > 0;) p = fma(p, x, broadcast<float>(c[i]));
  return p;
}

inline constexpr float kLog2e = 1.44269504f;
// ln 2 in two floats; the high one has 10 bits, so n·kLn2High is exact for every exponent n.
inline constexpr float kLn2High = 0.693359375f;
inline constexpr float kLn2Low = -2.12194440e-4f;

// eˣ = 2ⁿ·eʳ, |r| <= ln(2)/2; eʳ = 1 + r + r²·p(r) with p the degree-4 minimax polynomial (its own
// error is 0.05 of half an ulp).
INGOT_SIMD FloatV exp(FloatV x) {
  constexpr float kP[] = {0.49999994f, 0.16666515f, 0.041668456f, 0.008369419f, 0.0013813142f};
  // Adding 1.5·2²³ leaves round(x) in the low bits. The bounds give 0 and infinity and keep NaN.
  constexpr float kRound = 12582912.0f;
  x = max(broadcast<float>(-104.0f), x);
  x = min(broadcast<float>(89.0f), x);
  const FloatV shifted = fma(x, broadcast<float>(kLog2e), broadcast<float>(kRound));
  const FloatV n = shifted - kRound;
  FloatV r = fma(n, broadcast<float>(-kLn2High), x);
  r = fma(n, broadcast<float>(-kLn2Low), r);
  const FloatV e = fma(r * r, polynomial(r, kP), r) + 1.0f;
  // 2ⁿ as two factors: n reaches 128 and, for subnormal results, -150.
  const IntV exponent = bits_as<IntV>(shifted) - bits_as<int32_t>(kRound);
  const IntV first = exponent >> 1;
  const FloatV scale_first = bits_as<FloatV>((first + 127) << 23);
  const FloatV scale_second = bits_as<FloatV>((exponent - first + 127) << 23);
  return e * scale_first * scale_second;
}

// log x = e·ln 2 + log(1 + f), 1 + f in [√½, √2); log(1 + f) = f - f²/2 + f³·p(f).
INGOT_SIMD FloatV log(FloatV x) {
  constexpr float kP[] = {0.3333333f,  -0.25000823f, 0.20001227f, -0.16623357f,
                          0.14201762f, -0.13160194f, 0.1276155f,  -0.0763443f};
  constexpr float kSmallestNormal = 1.17549435e-38f;
  const FloatV normal = x < kSmallestNormal ? x * 8388608.0f : x;  // subnormals: times 2²³
  const FloatV offset = x < kSmallestNormal ? broadcast<float>(-23.0f) : FloatV{};
  // Counting exponents from √½ puts the mantissa in [√½, √2). (Unsigned: for negative x, whose
  // result is NaN, the difference wraps.)
  constexpr uint32_t kSqrtHalfBits = 0x3f3504f3;
  const UintV shifted = bits_as<UintV>(normal) - kSqrtHalfBits;
  const FloatV e = __builtin_convertvector(bits_as<IntV>(shifted) >> 23, FloatV) + offset;
  const FloatV f = bits_as<FloatV>((shifted & 0x7fffffu) + kSqrtHalfBits) - 1.0f;
  const FloatV f2 = f * f;
  FloatV y = fma(e, broadcast<float>(kLn2Low), polynomial(f, kP) * f * f2);
  y = fma(f2, broadcast<float>(-0.5f), y);
  y = fma(e, broadcast<float>(kLn2High), y + f);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  y = x < kInfinity ? y : x;  // infinity and NaN unchanged
  y = x > 0.0f ? y : broadcast<float>(-kInfinity);
  return x >= 0.0f ? y : x - x + std::numeric_limits<float>::quiet_NaN();
}

// An odd polynomial below 5/8, where 1 - 2/(e²ˣ + 1) would lose digits.
INGOT_SIMD FloatV tanh(FloatV x) {
  constexpr float kP[] = {-0.33333284f, 0.13331491f, -0.053743497f, 0.020650579f, -0.005717037f};
  const FloatV magnitude = bits_as<FloatV>(bits_as<UintV>(x) & 0x7fffffffu);
  const FloatV z = x * x;
  const FloatV small = fma(polynomial(z, kP) * z, magnitude, magnitude);
  const FloatV large = 1.0f - 2.0f / (exp(magnitude + magnitude) + 1.0f);
  const FloatV result = magnitude < 0.625f ? small : large;
  return bits_as<FloatV>(bits_as<UintV>(result) | (bits_as<UintV>(x) & 0x80000000u));
}

INGOT_SIMD FloatV sigmoid(FloatV x) {
  return 1.0f / (1.0f + exp(-x));
}

INGOT_SIMD DoubleV exp(DoubleV v) {
  return map_lanes(v, [](double x) { return std::exp(x); });
}
INGOT_SIMD DoubleV log(DoubleV v) {
  return map_lanes(v, [](double x) { return std::log(x); });
}
INGOT_SIMD DoubleV tanh(DoubleV v) {
  return map_lanes(v, [](double x) { return std::tanh(x); });
}
INGOT_SIMD DoubleV sigmoid(DoubleV x) {
  return 1.0 / (1.0 + exp(-x));
}

}  // namespace ingot::cpu::INGOT_ISA
