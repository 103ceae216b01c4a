// Packing for gemm.cpp: panels of kWidth rows (of a) or columns (of b), k-major, widened to F32.
// Element (i, k) of a panel is at k·kWidth + i, so that the kernel reads both operands in order,
// whichever way they were stored. The lanes beyond the matrix hold copies of other elements: their
// products are computed and dropped.
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

// to[k·width + i] = from[i][k] for four rows and four k.
template <int kWidth, class T>
INGOT_SIMD void transpose_quads(const T* const (&from)[4], int64_t k, float* to) {
  const Quad r0 = load_quad(from[0] + k), r1 = load_quad(from[1] + k);
  const Quad r2 = load_quad(from[2] + k), r3 = load_quad(from[3] + k);
  const Quad a = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
  const Quad b = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
  const Quad c = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
  const Quad d = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
  const Quad columns[4] = {
      __builtin_shufflevector(a, c, 0, 1, 4, 5), __builtin_shufflevector(a, c, 2, 3, 6, 7),
      __builtin_shufflevector(b, d, 0, 1, 4, 5), __builtin_shufflevector(b, d, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i) std::memcpy(to + i * kWidth, &columns[i], sizeof(Quad));
}

// Panels from rows contiguous in k: element (i, k) is from[i·stride + k].
// Where kWidth is no multiple of four the last group of rows writes into the next k, so it goes
// first and is overwritten; behind the last panel `to` needs room for 4 floats.
template <int kWidth, class T>
void pack_across(const T* from, int64_t stride, int64_t num_rows, int64_t num_k, float* to) {
  constexpr int64_t kLine = 16;  // k at a time: whole cache lines, lest equal sets evict each other
  for (int64_t panel = 0; panel < num_rows; panel += kWidth, to += kWidth * num_k) {
    const auto row = [&](int64_t i) { return from + std::min(panel + i, num_rows - 1) * stride; };
    int64_t k = 0;
    for (; k + kLine <= num_k; k += kLine) {
      for (int i = (kWidth - 1) / 4 * 4; i >= 0; i -= 4) {
        const T* const rows[4] = {row(i), row(i + 1), row(i + 2), row(i + 3)};
        for (int64_t part = k; part < k + kLine; part += 4) {
          transpose_quads<kWidth>(rows, part, to + part * kWidth + i);
        }
      }
    }
    for (; k < num_k; ++k) {
      for (int i = 0; i < kWidth; ++i) to[k * kWidth + i] = load_scalar(row(i) + k);
    }
  }
}

// Panels from rows contiguous in i: element (i, k) is from[k·stride + i].
template <int kWidth, class T>
void pack_along(const T* from, int64_t stride, int64_t num_rows, int64_t num_k, float* to) {
  // A few k at a time over all panels, as many as a cache set has ways: strides that are powers of
  // two put all k into the same sets.
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

// What the 256 codes of an 8-bit element stand for.
struct ByteValues {
  float of[256];
};

// Panels of bytes: element (i, k) is from[i·row_stride + k·k_stride]. Looked up one by one: this is
// the CPU's side of a GPU format, not what a run on the CPU should use.
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
