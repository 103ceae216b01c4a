// Packing for gemm.cpp: panels of kWidth rows (of a) or columns (of b) in words of 32 bits, which
// hold one F32 or two consecutive k in BF16. Word w of row i of a panel is at w·kWidth + i, so that
// the kernel reads both operands sequentially, whichever way they were stored. Lanes beyond the
// matrix hold copies of other elements; their results are discarded.
#pragma once

#include <algorithm>

#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {

typedef uint32_t Quad __attribute__((vector_size(16)));

// Words of one k: the element widened to F32.
template <class T>
struct Widened {
  using Element = T;
  static constexpr int64_t kDepth = 1;  // k in a word

  // The word that begins at p, where the next k is k_stride further.
  INGOT_SIMD static uint32_t word(const T* p, int64_t /*k_stride*/) {
    return bits_as<uint32_t>(load_scalar(p));
  }
  // Four words of a row that is contiguous in k.
  INGOT_SIMD static Quad quad(const T* p) {
    if constexpr (std::is_same_v<T, float>) {
      Quad quad;
      std::memcpy(&quad, p, sizeof quad);
      return quad;
    } else {
      typedef uint16_t HalfBits __attribute__((vector_size(8)));
      HalfBits half;
      std::memcpy(&half, p, sizeof half);
      return __builtin_convertvector(half, Quad) << 16;
    }
  }
};

// Words of two k, the first in the lower half. If K is odd, the last has a zero in the upper half.
struct Bf16Pairs {
  using Element = Bf16;
  static constexpr int64_t kDepth = 2;

  INGOT_SIMD static uint32_t word(const Bf16* p, int64_t k_stride) {
    return static_cast<uint32_t>(p[0].bits) | static_cast<uint32_t>(p[k_stride].bits) << 16;
  }
  INGOT_SIMD static uint32_t last_word(const Bf16* p) { return p->bits; }
  INGOT_SIMD static Quad quad(const Bf16* p) {
    Quad quad;
    std::memcpy(&quad, p, sizeof quad);
    return quad;
  }
};

// The same of F32, rounded.
struct RoundedPairs {
  using Element = float;
  static constexpr int64_t kDepth = 2;

  template <class Bits>
  INGOT_SIMD static Bits rounded(Bits bits, Bits is_nan) {
    return is_nan != 0 ? bits >> 16 | 0x40u : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  }
  INGOT_SIMD static uint32_t rounded(float x) {
    return rounded<uint32_t>(bits_as<uint32_t>(x), x != x);
  }
  INGOT_SIMD static uint32_t word(const float* p, int64_t k_stride) {
    return rounded(p[0]) | rounded(p[k_stride]) << 16;
  }
  INGOT_SIMD static uint32_t last_word(const float* p) { return rounded(p[0]); }
  INGOT_SIMD static Quad quad(const float* p) {
    typedef float Floats __attribute__((vector_size(16)));
    const auto four = [](const float* from) __attribute__((always_inline)) {
      Floats floats;
      std::memcpy(&floats, from, sizeof floats);
      return rounded(bits_as<Quad>(floats), bits_as<Quad>(floats != floats));
    };
    const Quad a = four(p), b = four(p + 4);
    return __builtin_shufflevector(a, b, 0, 2, 4, 6) | __builtin_shufflevector(a, b, 1, 3, 5, 7)
                                                           << 16;
  }
};

// The word of p where only `left` k are left.
template <class Words>
INGOT_SIMD uint32_t word_of(const typename Words::Element* p, int64_t k_stride, int64_t left) {
  if constexpr (Words::kDepth == 2) {
    if (left == 1) return Words::last_word(p);
  }
  return Words::word(p, k_stride);
}

// Four words of row 0, followed by four of row 4.
template <class Words, int kRows>
INGOT_SIMD auto load_rows(const typename Words::Element* const* from, int64_t k) {
  const Quad first = Words::quad(from[0] + k);
  if constexpr (kRows == 4) {
    return first;
  } else {
    return __builtin_shufflevector(first, Words::quad(from[4] + k), 0, 1, 2, 3, 4, 5, 6, 7);
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

// to[w·width + i] = word w of from[i] + k, for kRows rows and four words.
template <class Words, int kRows, int kWidth>
INGOT_SIMD void transpose(const typename Words::Element* const* from, int64_t k, uint32_t* to) {
  const auto r0 = load_rows<Words, kRows>(from, k), r1 = load_rows<Words, kRows>(from + 1, k);
  const auto r2 = load_rows<Words, kRows>(from + 2, k), r3 = load_rows<Words, kRows>(from + 3, k);
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
template <class Words, int kWidth>
void pack_across(const typename Words::Element* from, int64_t stride, int64_t num_rows,
                 int64_t num_k, uint32_t* to) {
  constexpr int64_t kDepth = Words::kDepth;
  constexpr int64_t kLine = 16;  // words per step: whole cache lines, to avoid evictions
  constexpr int kMany = kWidth < 8 || kLanes<float> < 8 ? 4 : 8;
  const int64_t full = num_k / kDepth, num_words = (num_k + kDepth - 1) / kDepth;
  for (int64_t panel = 0; panel < num_rows; panel += kWidth, to += kWidth * num_words) {
    const typename Words::Element* rows[kWidth];
    for (int i = 0; i < kWidth; ++i) rows[i] = from + std::min(panel + i, num_rows - 1) * stride;
    int64_t word = 0;
    for (; word + kLine <= full; word += kLine) {
      for (int i = 0; i + kMany <= kWidth; i += kMany) {
#pragma GCC unroll 4
        for (int64_t part = word; part < word + kLine; part += 4) {
          transpose<Words, kMany, kWidth>(rows + i, part * kDepth, to + part * kWidth + i);
        }
      }
      if constexpr (kWidth % kMany != 0) {  // the last four rows, which overlap rows packed before
        constexpr int kLast = kWidth - 4;
#pragma GCC unroll 4
        for (int64_t part = word; part < word + kLine; part += 4) {
          transpose<Words, 4, kWidth>(rows + kLast, part * kDepth, to + part * kWidth + kLast);
        }
      }
    }
    for (; word < num_words; ++word) {
      for (int i = 0; i < kWidth; ++i) {
        to[word * kWidth + i] = word_of<Words>(rows[i] + word * kDepth, 1, num_k - word * kDepth);
      }
    }
  }
}

// Panels from rows that are contiguous in i: element (i, k) is from[k·stride + i].
template <class Words, int kWidth>
void pack_along(const typename Words::Element* from, int64_t stride, int64_t num_rows,
                int64_t num_k, uint32_t* to) {
  // k per step over all panels, as many as a cache set has ways: with power-of-two strides all k
  // map to the same sets.
  constexpr int64_t kRowsAtOnce = 8, kDepth = Words::kDepth;
  const int64_t full = num_rows / kWidth * kWidth, num_words = (num_k + kDepth - 1) / kDepth;
  for (int64_t first = 0; first < num_k; first += kRowsAtOnce) {
    const int64_t last = std::min(first + kRowsAtOnce, num_k);
    for (int64_t panel = 0; panel < full; panel += kWidth) {
      for (int64_t k = first; k < last; k += kDepth) {
        const auto* source = from + k * stride + panel;
        uint32_t* target = to + panel * num_words + k / kDepth * kWidth;
        if (num_k - k >= kDepth) {
          for (int i = 0; i < kWidth; ++i) target[i] = Words::word(source + i, stride);
        } else {
          for (int i = 0; i < kWidth; ++i) target[i] = word_of<Words>(source + i, stride, 1);
        }
      }
    }
    if (full == num_rows) continue;
    for (int64_t k = first; k < last; k += kDepth) {
      for (int i = 0; i < kWidth; ++i) {
        to[full * num_words + k / kDepth * kWidth + i] =
            word_of<Words>(from + k * stride + std::min(full + i, num_rows - 1), stride, num_k - k);
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
                int64_t num_k, const ByteValues& values, uint32_t* to) {
  for (int64_t panel = 0; panel < num_rows; panel += kWidth, to += kWidth * num_k) {
    for (int i = 0; i < kWidth; ++i) {
      const uint8_t* row = from + std::min(panel + i, num_rows - 1) * row_stride;
      for (int64_t k = 0; k < num_k; ++k)
        to[k * kWidth + i] = bits_as<uint32_t>(values.of[row[k * k_stride]]);
    }
  }
}

}  // namespace ingot::cpu::INGOT_ISA
