// The register tile of gemm.cpp, over packed words (gemm_pack.h). Included only by kernels, like
// simd.h.
#pragma once

#include <algorithm>

#include "ops/cpu/unroll.h"

namespace ingot::cpu::INGOT_ISA {

// A tile of c lives in registers: kTileRows · kTileVectors accumulators, a row of b, one word of a.
// At least 8 accumulators hide the latency of two multiply-adds a cycle.
#if defined(INGOT_ISA_avx512)
inline constexpr int kGemmTileRows = 12;  // 24 + 2 + 1 of 32 registers
#elif defined(INGOT_ISA_avx2)
inline constexpr int kGemmTileRows = 6;  // 12 + 2 + 1 of 16 registers
#else
inline constexpr int kGemmTileRows = 4;  // 8 + 2 + 1 of 16 registers
#endif
inline constexpr int kGemmTileVectors = 2;
inline constexpr int kGemmTileCols = kGemmTileVectors * kLanes<float>;

// Words of one F32.
struct MultiplyF32 {
  using Vector = FloatV;
  static constexpr int64_t kDepth = 1;  // k in a word

  // x - 0 is x: one broadcasting load.
  INGOT_SIMD static FloatV spread(uint32_t word) { return bits_as<float>(word) - FloatV{}; }
  INGOT_SIMD static FloatV add(FloatV a, FloatV b, FloatV sum) { return fma(a, b, sum); }
};

#if defined(INGOT_BF16_DOT)
// Words of two BF16.
struct MultiplyBf16 {
  using Vector = UintV;
  static constexpr int64_t kDepth = 2;

  INGOT_SIMD static UintV spread(uint32_t word) { return UintV{} + word; }
  INGOT_SIMD static FloatV add(UintV a, UintV b, FloatV sum) {
    return bits_as<FloatV>(
        _mm512_dpbf16_ps(bits_as<__m512>(sum), bits_as<__m512bh>(a), bits_as<__m512bh>(b)));
  }
};
#endif

inline constexpr int kSteps = 8;  // words in an iteration of the tile: 4 were 7 % slower (Zen 3)
inline constexpr int kLines = std::max(kGemmTileRows, kSteps);  // fetched ahead in an iteration

// What a tile fetches for those after it: kLines lines `stride` bytes apart in every iteration,
// `step` bytes on in the next. A few at a time and into L1: Zen 4 drops what exceeds 24 lines
// awaited, and ignores the hints for other levels.
struct Fetch {
  const char* lines = nullptr;
  int64_t stride = 0, step = 0;
};

// Where the sums over a part of k go, by rows and columns of a block.
struct BlockSums {
  float* sums;  // F32 c, or sums of the parts so far
  int64_t stride;
  bool add;           // to what lies there
  Bf16* c = nullptr;  // the sums are rounded to here instead
  int64_t c_stride = 0;
  bool accumulate = false;  // c counts too
};

// A panel of a · a panel of b over num_words; of the panels, the first kRows rows and kVectors
// vectors are computed, and num_rows and num_cols of them go to `out` at (row, col).
template <class Multiply, int kRows, int kVectors>
[[gnu::noinline]] void multiply_tile(int64_t num_rows, int64_t num_cols, int64_t num_words,
                                     const uint32_t* a, const uint32_t* b, const BlockSums& out,
                                     int64_t row, int64_t col, const Fetch& fetch) {
  using Vector = typename Multiply::Vector;
  FloatV sums[kRows][kVectors];
  const auto for_tile = [&](auto f) INGOT_INLINE {
    unroll<kRows>([&](auto i)
                      INGOT_INLINE { unroll<kVectors>([&](auto j) INGOT_INLINE { f(i, j); }); });
  };
  for_tile([&](auto i, auto j) INGOT_INLINE { sums[i][j] = FloatV{}; });
  const auto step = [&](const uint32_t* a_word, const uint32_t* b_word) INGOT_INLINE {
    Vector b_row[kVectors];
    unroll<kVectors>([&](auto j) INGOT_INLINE {
      std::memcpy(&b_row[j], b_word + j * kLanes<float>, sizeof(Vector));
    });
    unroll<kRows>([&](auto i) INGOT_INLINE {
      const Vector a_element = Multiply::spread(a_word[i]);
      unroll<kVectors>([&](auto j) INGOT_INLINE {
        sums[i][j] = Multiply::add(a_element, b_row[j], sums[i][j]);
      });
    });
  };
  const bool rounded = out.c != nullptr;
  float* const f32 = out.sums + row * out.stride + col;
  Bf16* const bf16 = rounded ? out.c + row * out.c_stride + col : nullptr;
  const char* c =
      rounded ? reinterpret_cast<const char*>(bf16) : reinterpret_cast<const char*>(f32);
  const int64_t c_size = rounded ? sizeof(Bf16) : sizeof(float);
  const int64_t c_stride = (rounded ? out.c_stride : out.stride) * c_size;
  const int64_t c_end = (num_cols - 1) * c_size;
  Fetch ahead = fetch;
  int64_t word = 0;
  for (; word + kSteps <= num_words;
       word += kSteps, a += kSteps * kGemmTileRows, b += kSteps * kGemmTileCols) {
    if (word < num_rows * kSteps) {  // a row of c at a time: all at once cost up to 3 %
      __builtin_prefetch(c);
      __builtin_prefetch(c + c_end);
      c += c_stride;
    }
    if (ahead.lines != nullptr) {
      unroll<kLines>([&](auto i)
                         INGOT_INLINE { __builtin_prefetch(ahead.lines + i * ahead.stride); });
      ahead.lines += ahead.step;
    }
    unroll<kSteps>([&](auto s)
                       INGOT_INLINE { step(a + s * kGemmTileRows, b + s * kGemmTileCols); });
  }
  for (; word < num_words; ++word, a += kGemmTileRows, b += kGemmTileCols) step(a, b);

  const auto put_all = [&](const auto& put) INGOT_INLINE {
    if (num_rows == kRows && num_cols == kVectors * kLanes<float>) {
      constexpr std::integral_constant<int64_t, kLanes<float>> kAll;
      for_tile([&](auto i, auto j) INGOT_INLINE { put(i, j * kLanes<float>, sums[i][j], kAll); });
      return;
    }
    float edge[kRows][kVectors * kLanes<float>];
    for_tile([&](auto i, auto j) INGOT_INLINE { store(&edge[i][j * kLanes<float>], sums[i][j]); });
    for (int64_t i = 0; i < num_rows; ++i) {
      for_each_vector<float>(num_cols, [&](int64_t j, auto count)
                                           INGOT_INLINE { put(i, j, load(&edge[i][j]), count); });
    }
  };
  const auto sum_at = [&](int64_t i, int64_t j, FloatV sum, auto count) INGOT_INLINE {
    return out.add ? load_n(f32 + i * out.stride + j, count) + sum : sum;
  };
  if (!rounded) {
    put_all([&](int64_t i, int64_t j, FloatV sum, auto count) INGOT_INLINE {
      store_n(f32 + i * out.stride + j, sum_at(i, j, sum, count), count);
    });
  } else {
    put_all([&](int64_t i, int64_t j, FloatV sum, auto count) INGOT_INLINE {
      Bf16* const to = bf16 + i * out.c_stride + j;
      sum = sum_at(i, j, sum, count);
      if (out.accumulate) sum += load_n(to, count);
      store_n(to, sum, count);
    });
  }
}

// The smallest tile that covers num_rows and num_cols. Powers of two leave a third or two of the
// rows of a tile.
template <class Multiply, int kRows = kGemmTileRows, int kVectors = kGemmTileVectors,
          class... Arguments>
void fitting_tile(int64_t num_rows, int64_t num_cols, const Arguments&... arguments) {
  constexpr int kFewerRows = kRows - kGemmTileRows / 3;
  if constexpr (kFewerRows > 0) {
    if (num_rows <= kFewerRows) {
      return fitting_tile<Multiply, kFewerRows, kVectors>(num_rows, num_cols, arguments...);
    }
  }
  if constexpr (kVectors > 1) {
    if (num_cols <= (kVectors - 1) * kLanes<float>) {
      return fitting_tile<Multiply, kRows, kVectors - 1>(num_rows, num_cols, arguments...);
    }
  }
  multiply_tile<Multiply, kRows, kVectors>(num_rows, num_cols, arguments...);
}

}  // namespace ingot::cpu::INGOT_ISA
