// Packing for gemm.cpp: panels of kWidth rows (of a) or columns (of b), k-major, widened to F32.
// Element (i, k) of a panel is at k·kWidth + i, so that the kernel reads both operands
// sequentially, whichever way they were stored. Lanes beyond the matrix hold copies of other
// elements; their results are discarded.
#pragma once

#include <algorithm>

#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {

typedef float Quad __attribute__((vector_size(16)));

INGOT_SIMD Quad load_quad(const float* p) {
  Quad quad;
  std::memcpy(&quad, p, sizeof quad);
  return quad;
}
INGOT_SIMD Quad load_quad(const Bf16* p) {
  typedef uint16_t HalfBits __attribute__((vector_size(8)));
  typedef uint32_t Bits __attribute__((vector_size(16)));
  HalfBits half;
  std::memcpy(&half, p, sizeof half);
  return bits_as<Quad>(__builtin_convertvector(half, Bits) << 16);
}

// Four k of row 0, followed by four k of row 4.
template <int kRows, class T>
INGOT_SIMD auto load_rows(const T* const* from, int64_t k) {
  const Quad first = load_quad(from[0] + k);
  if constexpr (kRows == 4) {
    return first;
  } else {
    return __builtin_shufflevector(first, load_quad(from[4] + k), 0, 1, 2, 3, 4, 5, 6, 7);
  }
}

// Elements kIndices of two adjacent quads, in each quad of a and b.
template <int k0, int k1, int k2, int k3, class V>
INGOT_SIMD V shuffle_quads(V a, V b) {
  if constexpr (sizeof(V) == sizeof(Quad)) {
    return __builtin_shufflevector(a, b, k0, k1, k2, k3);
  } else {  // b starts at 8 instead of 4
    constexpr auto at = [](int i) { return i < 4 ? i : i + 4; };
    return __builtin_shufflevector(a, b, at(k0), at(k1), at(k2), at(k3), at(k0) + 4, at(k1) + 4,
                                   at(k2) + 4, at(k3) + 4);
  }
}

// to[k·width + i] = from[i][k] for kRows rows and four k.
template <int kRows, int kWidth, class T>
INGOT_SIMD void transpose(const T* const* from, int64_t k, float* to) {
  const auto r0 = load_rows<kRows>(from, k), r1 = load_rows<kRows>(from + 1, k);
  const auto r2 = load_rows<kRows>(from + 2, k), r3 = load_rows<kRows>(from + 3, k);
  const auto a = shuffle_quads<0, 4, 1, 5>(r0, r1), b = shuffle_quads<2, 6, 3, 7>(r0, r1);
  const auto c = shuffle_quads<0, 4, 1, 5>(r2, r3), d = shuffle_quads<2, 6, 3, 7>(r2, r3);
  const auto store_column = [&](int i, auto column) __attribute__((always_inline)) {
    std::memcpy(to + i * kWidth, &column, sizeof column);
  };
  store_column(0, shuffle_quads<0, 1, 4, 5>(a, c));
  store_column(1, shuffle_quads<2, 3, 6, 7>(a, c));
  store_column(2, shuffle_quads<0, 1, 4, 5>(b, d));
  store_column(3, shuffle_quads<2, 3, 6, 7>(b, d));
}

// Panels from rows that are contiguous in k: element (i, k) is from[i·stride + k].
template <int kWidth, class T>
void pack_across(const T* from, int64_t stride, int64_t num_rows, int64_t num_k, float* to) {
  constexpr int64_t kLine = 16;  // k per step: whole cache lines, to avoid evictions
  constexpr int kMany = kWidth < 8 || kLanes<float> < 8 ? 4 : 8;
  for (int64_t panel = 0; panel < num_rows; panel += kWidth, to += kWidth * num_k) {
    const T* rows[kWidth];
    for (int i = 0; i < kWidth; ++i) rows[i] = from + std::min(panel + i, num_rows - 1) * stride;
    int64_t k = 0;
    for (; k + kLine <= num_k; k += kLine) {
      for (int i = 0; i + kMany <= kWidth; i += kMany) {
#pragma GCC unroll 4
        for (int64_t part = k; part < k + kLine; part += 4) {
          transpose<kMany, kWidth>(rows + i, part, to + part * kWidth + i);
        }
      }
      if constexpr (kWidth % kMany != 0) {  // the last four rows, which overlap rows packed before
        constexpr int kLast = kWidth - 4;
#pragma GCC unroll 4
        for (int64_t part = k; part < k + kLine; part += 4) {
          transpose<4, kWidth>(rows + kLast, part, to + part * kWidth + kLast);
        }
      }
    }
    for (; k < num_k; ++k) {
      for (int i = 0; i < kWidth; ++i) to[k * kWidth + i] = load_scalar(rows[i] + k);
    }
  }
}

// Panels from rows that are contiguous in i: element (i, k) is from[k·stride + i].
template <int kWidth, class T>
void pack_along(const T* from, int64_t stride, int64_t num_rows, int64_t num_k, float* to) {
  // k per step over all panels, as many as a cache set has ways: with power-of-two strides all k
  // map to the same sets.
  constexpr int64_t kRowsAtOnce = 8;
  const int64_t full = num_rows / kWidth * kWidth;
  for (int64_t first = 0; first < num_k; first += kRowsAtOnce) {
    const int64_t last = std::min(first + kRowsAtOnce, num_k);
    for (int64_t panel = 0; panel < full; panel += kWidth) {
      for (int64_t k = first; k < last; ++k) {
        const T* source = from + k * stride + panel;
        float* target = to + panel * num_k + k * kWidth;
        if constexpr (std::is_same_v<T, float>) {
          std::memcpy(target, source, kWidth * sizeof(float));
        } else {
          for (int i = 0; i < kWidth; ++i) target[i] = load_scalar(source + i);
        }
      }
    }
    if (full == num_rows) continue;
    for (int64_t k = first; k < last; ++k) {
      for (int i = 0; i < kWidth; ++i) {
        to[full * num_k + k * kWidth + i] =
            load_scalar(from + k * stride + std::min(full + i, num_rows - 1));
      }
    }
  }
}

// The values of the 256 codes of an 8-bit element.
struct ByteValues {
  float of[256];
};

// Panels of bytes: element (i, k) is from[i·row_stride + k·k_stride]. Looked up one at a time:
// 8-bit formats are for GPUs; the CPU supports them, but slowly.
template <int kWidth>
void pack_bytes(const uint8_t* from, int64_t row_stride, int64_t k_stride, int64_t num_rows,
                int64_t num_k, const ByteValues& values, float* to) {
  for (int64_t panel = 0; panel < num_rows; panel += kWidth, to += kWidth * num_k) {
    for (int i = 0; i < kWidth; ++i) {
      const uint8_t* row = from + std::min(panel + i, num_rows - 1) * row_stride;
      for (int64_t k = 0; k < num_k; ++k) to[k * kWidth + i] = values.of[row[k * k_stride]];
    }
  }
}

}  // namespace ingot::cpu::INGOT_ISA
