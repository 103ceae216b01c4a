// The GEMM tile used by all of attention, and the packing for it: rows and lanes are padded in the
// packed buffers, so that no kernel handles remainders.
#pragma once

#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {

// The accumulators fill the registers: 6·2 of AVX2's 16, 8·2 of AVX-512's 32 (two multiply-adds per
// cycle with a latency of 4 keep 8 in flight).
#if defined(INGOT_ISA_avx512)
inline constexpr int kTileRows = 8;
#else
inline constexpr int kTileRows = 6;
#endif
template <class Real>
inline constexpr int kTileLanes = 2 * kLanes<Real>;

inline constexpr int64_t round_up(int64_t n, int64_t step) {
  return (n + step - 1) / step * step;
}

// What a GEMM of attention multiplies: numbers, or pairs of BF16 in words of 32 bits, which two k
// share (attention_pairs.h).
template <class Word>
inline constexpr int64_t kDepth = std::is_same_v<Word, uint32_t> ? 2 : 1;

// x - 0 is x for every x, unlike 0 + x, so the compiler emits one load-and-broadcast.
template <class Real>
INGOT_SIMD VectorOf<Real> spread(Real value) {
  return value - VectorOf<Real>{};
}

template <class V>
INGOT_SIMD V multiply_add(V a, V b, V sum) {
  return fma(a, b, sum);
}
#if defined(INGOT_BF16_DOT)
INGOT_SIMD UintV load(const uint32_t* p) {
  UintV v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
INGOT_SIMD UintV spread(uint32_t word) {
  return UintV{} + word;
}
INGOT_SIMD FloatV multiply_add(UintV a, UintV b, FloatV sum) {
  return bits_as<FloatV>(
      _mm512_dpbf16_ps(bits_as<__m512>(sum), bits_as<__m512bh>(a), bits_as<__m512bh>(b)));
}
#endif

enum class Start { Zero, Load, LoadScaled };  // the initial value of a GEMM's output

// c(kTileRows, kTileLanes) = start + a(kTileRows, num_k) · b(num_k, kTileLanes), k counting words;
// word (r, k) of a is a[r·a_row + k·a_k]. LoadScaled: row r of c is first multiplied by c_scale[r].
// Pairs that start at Zero: the sums are multiplied by sum_scale.
template <Start kStart, class Word, class Real>
INGOT_SIMD void gemm_tile(const Word* a, int64_t a_row, int64_t a_k, const Word* b, int64_t b_k,
                          int64_t num_k, Real* c, int64_t c_row, const Real* c_scale = nullptr,
                          Real sum_scale = Real{1}) {
  using V = VectorOf<Real>;
  V sum[kTileRows][2];
#pragma GCC unroll 8
  for (int r = 0; r < kTileRows; ++r) {
    sum[r][0] = kStart == Start::Zero ? V{} : load(c + r * c_row);
    sum[r][1] = kStart == Start::Zero ? V{} : load(c + r * c_row + kLanes<Real>);
    if constexpr (kStart == Start::LoadScaled) {
      sum[r][0] *= spread(c_scale[r]);
      sum[r][1] *= spread(c_scale[r]);
    }
  }
#pragma GCC unroll 2
  for (int64_t k = 0; k < num_k; ++k) {
    const auto b0 = load(b + k * b_k);
    const auto b1 = load(b + k * b_k + kLanes<Real>);
#pragma GCC unroll 8
    for (int r = 0; r < kTileRows; ++r) {
      const auto spread_a = spread(a[r * a_row + k * a_k]);
      sum[r][0] = multiply_add(spread_a, b0, sum[r][0]);
      sum[r][1] = multiply_add(spread_a, b1, sum[r][1]);
    }
  }
  if constexpr (kDepth<Word> == 2 && kStart == Start::Zero) {
#pragma GCC unroll 8
    for (int r = 0; r < kTileRows; ++r) {
      sum[r][0] *= spread(sum_scale);
      sum[r][1] *= spread(sum_scale);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kTileRows; ++r) {
    store(c + r * c_row, sum[r][0]);
    store(c + r * c_row + kLanes<Real>, sum[r][1]);
  }
}

// Transposes a square of vectors in registers: log2(lanes) rounds that exchange half-blocks.
template <class Real, int kDistance = kLanes<Real> / 2>
INGOT_SIMD void transpose_square(VectorOf<Real> (&rows)[kLanes<Real>]) {
  using V = VectorOf<Real>;
  using Mask = decltype(V{} < V{});
  constexpr int kCount = kLanes<Real>;
  Mask take_low{}, take_high{};
  for (int lane = 0; lane < kCount; ++lane) {
    const bool upper = (lane & kDistance) != 0;
    take_low[lane] = upper ? kCount + lane - kDistance : lane;
    take_high[lane] = upper ? kCount + lane : lane + kDistance;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) {
    if (i & kDistance) continue;
    const V low = rows[i], high = rows[i + kDistance];
    rows[i] = __builtin_shuffle(low, high, take_low);
    rows[i + kDistance] = __builtin_shuffle(low, high, take_high);
  }
  if constexpr (kDistance > 1) transpose_square<Real, kDistance / 2>(rows);
}

// Rows of one head of a strided (B, T, H, D) tensor.
template <class T>
struct HeadRows {
  T* data;
  int64_t stride;
  T* operator[](int64_t t) const { return data + t * stride; }
};

// dst(padded_rows, row_elements) = scale · src(num_rows, D), padded with zeros.
template <class T>
void pack_rows(HeadRows<const T> src, int64_t num_rows, int64_t D, Compute<T> scale,
               Compute<T>* dst, int64_t padded_rows, int64_t row_elements) {
  for (int64_t t = 0; t < num_rows; ++t) {
    for (int64_t d = 0; d < row_elements; d += kLanes<T>) {
      const int64_t count = D - d;
      store(dst + t * row_elements + d,
            spread(scale) * (count >= kLanes<T> ? load(src[t] + d)
                             : count > 0        ? load_partial(src[t] + d, count)
                                                : VectorOf<T>{}));
    }
  }
  std::memset(dst + num_rows * row_elements, 0,
              sizeof(*dst) * static_cast<size_t>((padded_rows - num_rows) * row_elements));
}

// dst(row_elements, columns) = src(columns, row_elements)ᵀ, both packed.
template <class Real>
void transpose(const Real* src, int64_t row_elements, Real* dst, int64_t columns) {
  constexpr int kCount = kLanes<Real>;
  for (int64_t d = 0; d < row_elements; d += kCount) {
    for (int64_t t = 0; t < columns; t += kCount) {
      VectorOf<Real> square[kCount];
#pragma GCC unroll 16
      for (int i = 0; i < kCount; ++i) square[i] = load(src + (t + i) * row_elements + d);
      transpose_square<Real>(square);
#pragma GCC unroll 16
      for (int i = 0; i < kCount; ++i) store(dst + (d + i) * columns + t, square[i]);
    }
  }
}

// dst[t] = scale · src[t], or dst[t] += scale · src[t], over the first D of each packed row.
template <class T>
void unpack_rows(const Compute<T>* src, int64_t row_elements, int64_t num_rows, int64_t D,
                 Compute<T> scale, HeadRows<T> dst, bool accumulate) {
  for (int64_t t = 0; t < num_rows; ++t, src += row_elements) {
    for_each_vector<T>(
        D, [&](int64_t d, auto count) __attribute__((always_inline)) {
          VectorOf<T> value = spread(scale) * load(src + d);
          if (accumulate) value += load_n(dst[t] + d, count);
          store_n(dst[t] + d, value, count);
        });
  }
}

}  // namespace ingot::cpu::INGOT_ISA
