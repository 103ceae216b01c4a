// BF16 for the GEMMs of attention on machines that multiply it: words of 32 bits hold two numbers
// that are neighbours along the sum, the first in the lower half. Included only by kernels, like
// simd.h.
#pragma once

#include "ops/cpu/attention_plan.h"
#include "ops/cpu/attention_tile.h"

namespace ingot::cpu::INGOT_ISA {

// What the GEMMs multiply for stored T: numbers, or pairs of BF16.
template <class T>
struct WordFor {
  using type = Compute<T>;
};
#if defined(INGOT_BF16_DOT)
template <>
struct WordFor<Bf16> {
  using type = uint32_t;
};
#endif
template <class T>
using WordOf = typename WordFor<T>::type;

// dst(padded_rows, row_words) = scale · src(num_rows, D), padded with zeros. Pairs, of two dims,
// are not scaled.
template <class T>
void pack_words(HeadRows<const T> src, int64_t num_rows, int64_t D, Compute<T> scale,
                WordOf<T>* dst, int64_t padded_rows, int64_t row_words) {
  if constexpr (kDepth<WordOf<T>> == 1) {
    pack_rows(src, num_rows, D, scale, dst, padded_rows, row_words);
  } else {
    const auto bytes = static_cast<size_t>(D) * sizeof(T);
    const auto row_bytes = static_cast<size_t>(row_words) * sizeof(*dst);
    for (int64_t t = 0; t < num_rows; ++t) {
      auto* const row = reinterpret_cast<std::byte*>(dst + t * row_words);
      std::memcpy(row, src[t], bytes);
      std::memset(row + bytes, 0, row_bytes - bytes);
    }
    std::memset(dst + num_rows * row_words, 0,
                row_bytes * static_cast<size_t>(padded_rows - num_rows));
  }
}

#if defined(INGOT_BF16_DOT)

INGOT_SIMD UintV load_halves(const void* p) {
  HalfBitsV half;
  std::memcpy(&half, p, sizeof half);
  return __builtin_convertvector(half, UintV);
}

// dst(num_rows / 2, 2 · row_words): pairs of rows, from rows of pairs.
inline void pair_rows(const uint32_t* src, int64_t row_words, int64_t num_rows, uint32_t* dst) {
  constexpr int64_t kStep = kLanes<Bf16> / 2;  // words that hold a vector's numbers
  for (int64_t t = 0; t < num_rows; t += 2, src += 2 * row_words) {
    for (int64_t word = 0; word < row_words; word += kStep, dst += kLanes<Bf16>) {
      const UintV pairs = load_halves(src + word) | load_halves(src + row_words + word) << 16;
      std::memcpy(dst, &pairs, sizeof pairs);
    }
  }
}

// Of a block(kKeyBlock, kQueryBlock), rounded: dst(kKeyBlock / 2, kQueryBlock), pairs of keys.
inline void pair_keys(const float* block, uint32_t* dst) {
  for (int64_t key = 0; key < kKeyBlock; key += 2) {
    for (int64_t query = 0; query < kQueryBlock; query += kLanes<float>) {
      const float* const first = block + key * kQueryBlock + query;
      uint16_t rounded[2][kLanes<float>];
      const auto both = _mm512_cvtne2ps_pbh(bits_as<__m512>(load(first + kQueryBlock)),
                                            bits_as<__m512>(load(first)));
      std::memcpy(rounded, &both, sizeof both);
      const UintV pairs = load_halves(rounded[0]) | load_halves(rounded[1]) << 16;
      std::memcpy(dst + key / 2 * kQueryBlock + query, &pairs, sizeof pairs);
    }
  }
}

// The same: dst(kKeyBlock, kQueryBlock / 2), pairs of queries.
inline void pair_queries(const float* block, uint32_t* dst) {
  for (int64_t i = 0; i < kKeyBlock * kQueryBlock; i += 2 * kLanes<float>) {
    const auto pairs = bits_as<UintV>(_mm512_cvtne2ps_pbh(
        bits_as<__m512>(load(block + i + kLanes<float>)), bits_as<__m512>(load(block + i))));
    std::memcpy(dst + i / 2, &pairs, sizeof pairs);
  }
}

#endif

}  // namespace ingot::cpu::INGOT_ISA
