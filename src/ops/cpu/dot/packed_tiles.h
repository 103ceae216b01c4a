// Tiles of packed GEMMs: a group of rows of x times a panel of weights, over some of k. Included
// only by kernels, like simd.h.
//
// A panel is a row of units. A unit has 32 bits of each of the panel's rows: one F32, two BF16 or
// four codes of Q8_0. x is packed in words of the same k, those of a group's rows side by side, so
// that a kernel reads both operands in order and multiplies vectors of a unit by one word.
#pragma once

#pragma GCC push_options
#pragma GCC reset_options
#include <emmintrin.h>
#pragma GCC pop_options

#include "core/tensor/q8_0.h"
#include "core/tensor/weight_format.h"
#include "ops/cpu/unroll.h"

namespace ingot::cpu::INGOT_ISA {

inline constexpr int64_t kLineBytes = 64;
inline constexpr int64_t kUnitBytes = kPanelRows * 4;
inline constexpr int kPanelVectors = static_cast<int>(kUnitBytes) / kVectorBytes;
inline constexpr int kMaxTileRows = 12;

// The least height of a tile for `rows`.
inline int64_t tile_height(int64_t rows) {
  for (const int64_t height : {1, 2, 3, 4, 6, 8})
    if (rows <= height) return height;
  return kMaxTileRows;
}

// Calls f(integral_constant) with one of the heights up to kMax.
template <int kMax, class F>
INGOT_SIMD void with_height(int64_t height, const F& f) {
  const auto try_height = [&](auto h) {
    if constexpr (h() <= kMax) {
      if (height == h()) f(h);
    }
  };
  try_height(std::integral_constant<int, 1>{});
  try_height(std::integral_constant<int, 2>{});
  try_height(std::integral_constant<int, 3>{});
  try_height(std::integral_constant<int, 4>{});
  try_height(std::integral_constant<int, 6>{});
  try_height(std::integral_constant<int, 8>{});
  try_height(std::integral_constant<int, 12>{});
}

// Where a tile's sums go: y = start + sums, or the sums alone.
struct TileOutput {
  float* y;
  int64_t y_stride;
  const float* start;  // null: none; may be y
  int64_t start_stride;
  int64_t num_rows, num_cols;  // of y, from the panel's first on

  // From another vector of the panel on.
  TileOutput from(int64_t col) const {
    return {y + col,      y_stride, start == nullptr ? nullptr : start + col,
            start_stride, num_rows, num_cols - col};
  }
};

// What a tile fetches for those after it: a unit at a time, `lines` cache lines.
struct Ahead {
  const std::byte* from = nullptr;
  int lines = 0;  // 0, 1 or 2: a unit is two

  INGOT_SIMD void fetch() {
    if (lines == 0) return;
    __builtin_prefetch(from);
    if (lines == 2) __builtin_prefetch(from + kLineBytes);
    from += lines * kLineBytes;
  }
};

// Calls f(row, first column, count) for the vectors of a tile that lie in y.
template <int kRows, int kVectors, class F>
INGOT_SIMD void for_output(const TileOutput& output, const F& f) {
  unroll<kRows>([&](auto i) INGOT_INLINE {
    if (i() >= output.num_rows) return;
    unroll<kVectors>([&](auto j) INGOT_INLINE {
      const int64_t left = output.num_cols - j() * kLanes<float>;
      if (left >= kLanes<float>) {
        f(i, j, std::integral_constant<int64_t, kLanes<float>>{});
      } else if (left > 0) {
        f(i, j, left);
      }
    });
  });
}

// ---- F32 and BF16 -------------------------------------------------------------------------------

INGOT_SIMD FloatV load_floats(const std::byte* p) {
  FloatV v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
INGOT_SIMD UintV load_words(const std::byte* p) {
  UintV v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
// x - 0 is x: one broadcasting load.
INGOT_SIMD FloatV spread_float(uint32_t word) {
  return bits_as<float>(word) - FloatV{};
}
INGOT_SIMD UintV spread_word(uint32_t word) {
  return UintV{} + word;
}

struct F32Format {
  static constexpr int64_t kUnitCols = 1;
  static constexpr int kWords = 1;  // of x per unit and row
#if defined(INGOT_ISA_avx512)
  static constexpr int kMaxRows = 12;
#elif defined(INGOT_ISA_avx2)
  static constexpr int kMaxRows = 6;
#else
  static constexpr int kMaxRows = 4;
#endif

  static void pack_x(const float* const* rows, int64_t num_rows, int64_t K, uint32_t* to) {
    for (int64_t i = 0; i < num_rows; ++i)
      for (int64_t k = 0; k < K; ++k) to[k * num_rows + i] = bits_as<uint32_t>(rows[i][k]);
  }

  template <int kRows, int kVectors>
  INGOT_SIMD static void step(FloatV (&sums)[kRows][kVectors], const std::byte* w,
                              const uint32_t* x) {
    FloatV unit[kVectors];
    unroll<kVectors>([&](auto j) INGOT_INLINE { unit[j] = load_floats(w + j() * kVectorBytes); });
    unroll<kRows>([&](auto i) INGOT_INLINE {
      const FloatV x_i = spread_float(x[i]);
      unroll<kVectors>([&](auto j) INGOT_INLINE { sums[i][j] = fma(x_i, unit[j], sums[i][j]); });
    });
  }
};

#if defined(INGOT_BF16_DOT)

struct Bf16Format {
  static constexpr int64_t kUnitCols = 2;
  static constexpr int kWords = 1;
  static constexpr int kMaxRows = 12;

  static void pack_x(const float* const* rows, int64_t num_rows, int64_t K, uint32_t* to) {
    for (int64_t i = 0; i < num_rows; ++i) {
      for (int64_t k = 0; k < K; k += 2) {
        const uint32_t even = Bf16::from_float(rows[i][k]).bits;
        const uint32_t odd = k + 1 < K ? Bf16::from_float(rows[i][k + 1]).bits : 0;
        to[k / 2 * num_rows + i] = odd << 16 | even;
      }
    }
  }

  template <int kRows, int kVectors>
  INGOT_SIMD static void step(FloatV (&sums)[kRows][kVectors], const std::byte* w,
                              const uint32_t* x) {
    UintV unit[kVectors];
    unroll<kVectors>([&](auto j) INGOT_INLINE { unit[j] = load_words(w + j() * kVectorBytes); });
    unroll<kRows>([&](auto i) INGOT_INLINE {
      const UintV x_i = spread_word(x[i]);
      unroll<kVectors>([&](auto j) INGOT_INLINE {
        sums[i][j] = bits_as<FloatV>(_mm512_dpbf16_ps(
            bits_as<__m512>(sums[i][j]), bits_as<__m512bh>(unit[j]), bits_as<__m512bh>(x_i)));
      });
    });
  }
};

#else

// Widened to F32; x has two words per unit, rounded to BF16.
struct Bf16Format {
  static constexpr int64_t kUnitCols = 2;
  static constexpr int kWords = 2;
#if defined(INGOT_ISA_avx2)
  static constexpr int kMaxRows = 4;  // 8 + 4 + 1 of 16 registers; 6 spill
#else
  static constexpr int kMaxRows = F32Format::kMaxRows;
#endif

  static void pack_x(const float* const* rows, int64_t num_rows, int64_t K, uint32_t* to) {
    for (int64_t i = 0; i < num_rows; ++i) {
      for (int64_t k = 0; k < K; ++k)
        to[k * num_rows + i] = uint32_t{Bf16::from_float(rows[i][k]).bits} << 16;
      if (K % 2 != 0) to[K * num_rows + i] = 0;
    }
  }

  template <int kRows, int kVectors>
  INGOT_SIMD static void step(FloatV (&sums)[kRows][kVectors], const std::byte* w,
                              const uint32_t* x) {
    FloatV even[kVectors], odd[kVectors];
    unroll<kVectors>([&](auto j) INGOT_INLINE {
      const UintV unit = load_words(w + j() * kVectorBytes);
      even[j] = bits_as<FloatV>(unit << 16);
      odd[j] = bits_as<FloatV>(unit & 0xffff0000u);
    });
    unroll<kRows>([&](auto i) INGOT_INLINE {
      const FloatV x_i = spread_float(x[i]);
      unroll<kVectors>([&](auto j) INGOT_INLINE { sums[i][j] = fma(x_i, even[j], sums[i][j]); });
    });
    unroll<kRows>([&](auto i) INGOT_INLINE {
      const FloatV x_i = spread_float(x[kRows + i]);
      unroll<kVectors>([&](auto j) INGOT_INLINE { sums[i][j] = fma(x_i, odd[j], sums[i][j]); });
    });
  }
};

#endif

template <class Format, int kRows, int kVectors>
[[gnu::noinline]] void float_tile(int64_t num_units, const std::byte* w, const uint32_t* x,
                                  Ahead ahead, const TileOutput& output) {
  FloatV sums[kRows][kVectors];
  unroll<kRows>([&](auto i) INGOT_INLINE {
    unroll<kVectors>([&](auto j) INGOT_INLINE { sums[i][j] = FloatV{}; });
  });
  for (int64_t unit = 0; unit < num_units; ++unit) {
    ahead.fetch();
    Format::step(sums, w, x);
    w += kUnitBytes;
    x += kRows * Format::kWords;
  }
  for_output<kRows, kVectors>(output, [&](auto i, auto j, auto count) INGOT_INLINE {
    FloatV sum = sums[i][j];
    constexpr int64_t col = j() * kLanes<float>;
    if (output.start != nullptr)
      sum = load_n(output.start + i() * output.start_stride + col, count) + sum;
    store_n(output.y + i() * output.y_stride + col, sum, count);
  });
}

// All columns of a panel.
template <class Format>
void float_panel(int64_t height, int64_t num_units, const std::byte* w, const uint32_t* x,
                 Ahead ahead, const TileOutput& output) {
  with_height<Format::kMaxRows>(height, [&](auto rows) {
    constexpr int kVectors = rows() == 1 ? kPanelVectors : 2;
    for (int64_t v = 0; v < kPanelVectors; v += kVectors)
      float_tile<Format, rows(), kVectors>(num_units, w + v * kVectorBytes, x,
                                           v == 0 ? ahead : Ahead{},
                                           output.from(v * kLanes<float>));
  });
}

// ---- Q8_0 ---------------------------------------------------------------------------------------

// A block of a panel: 16-bit scales of its rows, then 8 units of codes + 128. The products of a
// block start at -128 · the sum of the codes of x.
inline constexpr int64_t kBlockUnits = kQ8Block / 4;
inline constexpr int64_t kScaleBytes = kPanelRows * 2;
inline constexpr int64_t kBlockBytes = kScaleBytes + kBlockUnits * kUnitBytes;

#if defined(INGOT_VNNI)
inline constexpr int64_t kCodeWords = kBlockUnits;  // of x per block and row: four codes each
#else
inline constexpr int64_t kCodeWords = 2 * kBlockUnits;  // two 16-bit codes each
#endif
inline constexpr int64_t kBlockWords = kCodeWords + 2;  // and the scale, and the sum
#if defined(INGOT_ISA_avx512)
inline constexpr int kMaxBlockRows = 6;  // 12 sums of codes and as many of blocks
#else
inline constexpr int kMaxBlockRows = 4;
#endif

inline void pack_x_blocks(const float* const* rows, int64_t num_rows, int64_t num_blocks,
                          uint32_t* to) {
  for (int64_t b = 0; b < num_blocks; ++b, to += num_rows * kBlockWords) {
    for (int64_t i = 0; i < num_rows; ++i) {
      int8_t codes[kQ8Block];
      const float scale = quantize_q8_0(rows[i] + b * kQ8Block, codes);
      int32_t sum = 0;
      for (const int8_t code : codes) sum += code;
#if defined(INGOT_VNNI)
      uint32_t words[kCodeWords];
      std::memcpy(words, codes, sizeof words);
      for (int64_t u = 0; u < kCodeWords; ++u) to[u * num_rows + i] = words[u];
#else
      for (int64_t u = 0; u < kBlockUnits; ++u) {  // the even codes of a unit, then the odd ones
        const auto pair = [&](int64_t k) {
          return static_cast<uint32_t>(static_cast<uint16_t>(codes[4 * u + k])) |
                 static_cast<uint32_t>(static_cast<uint16_t>(codes[4 * u + k + 2])) << 16;
        };
        to[2 * u * num_rows + i] = pair(0);
        to[(2 * u + 1) * num_rows + i] = pair(1);
      }
#endif
      to[kCodeWords * num_rows + i] = bits_as<uint32_t>(scale);
      to[(kCodeWords + 1) * num_rows + i] = static_cast<uint32_t>(-128 * sum);
    }
  }
}

// kLanes of 16-bit floats.
INGOT_SIMD FloatV load_scales(const std::byte* p) {
#if defined(INGOT_ISA_avx512)
  __m256i half;
  std::memcpy(&half, p, sizeof half);
  return bits_as<FloatV>(_mm512_cvtph_ps(half));
#elif defined(INGOT_ISA_avx2)
  __m128i half;
  std::memcpy(&half, p, sizeof half);
  return bits_as<FloatV>(_mm256_cvtph_ps(half));
#else
  HalfBitsV half;
  std::memcpy(&half, p, sizeof half);
  const UintV bits = __builtin_convertvector(half, UintV);
  const UintV shifted = (bits & 0x7fffu) << 13;
  const FloatV normal = bits_as<FloatV>(shifted + (112u << 23));
  // Without denormal operands, which may count as zero.
  const FloatV small = bits_as<FloatV>(shifted + (113u << 23)) - 0x1p-14f;
  return (bits & 0x7c00u) == 0 ? small : normal;  // no signs, infinities or NaN
#endif
}

#if defined(INGOT_VNNI)
// Adds the products of a unit and four codes of x.
INGOT_SIMD IntV add_products(IntV sum, UintV unit, uint32_t word) {
#if defined(INGOT_ISA_avx512)
  return bits_as<IntV>(_mm512_dpbusd_epi32(bits_as<__m512i>(sum), bits_as<__m512i>(unit),
                                           _mm512_set1_epi32(static_cast<int>(word))));
#else
  return bits_as<IntV>(_mm256_dpbusd_avx_epi32(bits_as<__m256i>(sum), bits_as<__m256i>(unit),
                                               _mm256_set1_epi32(static_cast<int>(word))));
#endif
}
#else
// Adds the products of pairs of 16-bit numbers.
INGOT_SIMD IntV add_pairs(IntV sum, UintV pairs, uint32_t word) {
#if defined(INGOT_ISA_avx512)
  return sum + bits_as<IntV>(_mm512_madd_epi16(bits_as<__m512i>(pairs),
                                               _mm512_set1_epi32(static_cast<int>(word))));
#elif defined(INGOT_ISA_avx2)
  return sum + bits_as<IntV>(_mm256_madd_epi16(bits_as<__m256i>(pairs),
                                               _mm256_set1_epi32(static_cast<int>(word))));
#else
  return sum + bits_as<IntV>(
                   _mm_madd_epi16(bits_as<__m128i>(pairs), _mm_set1_epi32(static_cast<int>(word))));
#endif
}
#endif

template <int kRows, int kVectors>
INGOT_SIMD void block_step(IntV (&sums)[kRows][kVectors], const std::byte* w, const uint32_t* x,
                           Ahead& ahead) {
#pragma GCC unroll 8
  for (int64_t u = 0; u < kBlockUnits; ++u) {
    ahead.fetch();
#if defined(INGOT_VNNI)
    UintV unit[kVectors];
    unroll<kVectors>([&](auto j) INGOT_INLINE {
      unit[j] = load_words(w + u * kUnitBytes + j() * kVectorBytes);
    });
    unroll<kRows>([&](auto i) INGOT_INLINE {
      unroll<kVectors>([&](auto j) INGOT_INLINE {
        sums[i][j] = add_products(sums[i][j], unit[j], x[u * kRows + i]);
      });
    });
#else
    UintV even[kVectors], odd[kVectors];
    unroll<kVectors>([&](auto j) INGOT_INLINE {
      const UintV unit = load_words(w + u * kUnitBytes + j() * kVectorBytes);
      even[j] = unit & 0x00ff00ffu;
      odd[j] = (unit >> 8) & 0x00ff00ffu;
    });
    unroll<kRows>([&](auto i) INGOT_INLINE {
      unroll<kVectors>([&](auto j) INGOT_INLINE {
        sums[i][j] = add_pairs(sums[i][j], even[j], x[2 * u * kRows + i]);
        sums[i][j] = add_pairs(sums[i][j], odd[j], x[(2 * u + 1) * kRows + i]);
      });
    });
#endif
  }
}

template <int kRows, int kVectors>
[[gnu::noinline]] void block_tile(int64_t num_blocks, const std::byte* w, const std::byte* scales,
                                  const uint32_t* x, Ahead ahead, const TileOutput& output,
                                  const float* addend, int64_t addend_stride) {
  FloatV totals[kRows][kVectors];
  unroll<kRows>([&](auto i) INGOT_INLINE {
    unroll<kVectors>([&](auto j) INGOT_INLINE { totals[i][j] = FloatV{}; });
  });
  if (output.start != nullptr) {
    for_output<kRows, kVectors>(output, [&](auto i, auto j, auto count) INGOT_INLINE {
      totals[i][j] = load_n(output.start + i() * output.start_stride + j() * kLanes<float>, count);
    });
  }
  for (int64_t block = 0; block < num_blocks; ++block) {
    IntV sums[kRows][kVectors];
    const uint32_t* const x_scales = x + kCodeWords * kRows;
    unroll<kRows>([&](auto i) INGOT_INLINE {
      const IntV start = bits_as<IntV>(spread_word(x_scales[kRows + i]));
      unroll<kVectors>([&](auto j) INGOT_INLINE { sums[i][j] = start; });
    });
    block_step(sums, w, x, ahead);
    ahead.fetch();  // of the scales
    unroll<kVectors>([&](auto j) INGOT_INLINE {
      const FloatV scale = load_scales(scales + j() * kVectorBytes / 2);
      unroll<kRows>([&](auto i) INGOT_INLINE {
        totals[i][j] +=
            __builtin_convertvector(sums[i][j], FloatV) * (scale * spread_float(x_scales[i]));
      });
    });
    w += kBlockBytes;
    scales += kBlockBytes;
    x += kRows * kBlockWords;
  }
  for_output<kRows, kVectors>(output, [&](auto i, auto j, auto count) INGOT_INLINE {
    FloatV total = totals[i][j];
    constexpr int64_t col = j() * kLanes<float>;
    if (addend != nullptr) total += load_n(addend + i() * addend_stride + col, count);
    store_n(output.y + i() * output.y_stride + col, total, count);
  });
}

inline void block_panel(int64_t height, int64_t num_blocks, const std::byte* w, const uint32_t* x,
                        Ahead ahead, const TileOutput& output, const float* addend,
                        int64_t addend_stride) {
  with_height<kMaxBlockRows>(height, [&](auto rows) {
    constexpr int kVectors = rows() == 1 ? kPanelVectors : 2;
    for (int64_t v = 0; v < kPanelVectors; v += kVectors) {
      const int64_t col = v * kLanes<float>;
      block_tile<rows(), kVectors>(num_blocks, w + kScaleBytes + v * kVectorBytes,
                                   w + v * kVectorBytes / 2, x, v == 0 ? ahead : Ahead{},
                                   output.from(col), addend == nullptr ? nullptr : addend + col,
                                   addend_stride);
    }
  });
}

}  // namespace ingot::cpu::INGOT_ISA
