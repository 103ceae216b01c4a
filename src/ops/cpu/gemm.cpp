#include "ops/cpu/gemm.h"

#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "ops/cpu/gemm_pack.h"

namespace ingot::cpu::INGOT_ISA {
namespace {

// A tile of c lives in registers: kTileRows · kTileVectors accumulators, a row of b, one element
// of a. At least 8 accumulators hide the latency of two multiply-adds a cycle.
#if defined(INGOT_ISA_avx512)
constexpr int kTileRows = 12;  // 24 + 2 + 1 of 32 registers
#elif defined(INGOT_ISA_avx2)
constexpr int kTileRows = 6;  // 12 + 2 + 1 of 16 registers
#else
constexpr int kTileRows = 4;  // 8 + 2 + 1 of 16 registers
#endif
constexpr int kTileVectors = 2;
constexpr int kTileCols = kTileVectors * kLanes<float>;
static_assert(kGemmRowStep % kTileRows == 0 && kGemmColStep % kTileCols == 0);

// Sizes for 32 KB L1 and 512 KB L2: a panel of b (kMaxK, kTileCols) stays in L1 while the panels of
// a (kMaxRows, kMaxK) stream past it from L2; b waits in L3. kMaxK 384 and kMaxRows 192 measured
// the same.
constexpr int64_t kMaxK = 256;
constexpr int64_t kMaxRows = 288;
constexpr int64_t kMaxCols = 2048;
constexpr int64_t kScratchRows = 512, kScratchCols = 512;  // F32 sums of a BF16 c
static_assert(kMaxRows % kTileRows == 0 && kMaxCols % kTileCols == 0);

struct Free {
  void operator()(float* p) const { std::free(p); }
};

// One per thread and ISA, kept for the thread's life: nothing is allocated after the first step.
class Buffer {
 public:
  float* get(int64_t floats) {
    if (!data_) {
      data_.reset(static_cast<float*>(std::aligned_alloc(4096, bytes_for(floats))));
      if (!data_) throw std::bad_alloc();
    }
    return data_.get();
  }

 private:
  static size_t bytes_for(int64_t floats) {
    return (static_cast<size_t>(floats) * sizeof(float) + 64 + 4095) / 4096 * 4096;
  }
  std::unique_ptr<float, Free> data_;
};
thread_local Buffer packed_a, packed_b, wide_c;

template <class F, int... kIndices>
INGOT_SIMD void unroll(std::integer_sequence<int, kIndices...>, const F& f) {
  (f(std::integral_constant<int, kIndices>{}), ...);
}
// f(0), f(1), … with constants: arrays indexed by them become registers. #pragma GCC unroll on
// plain loops measured 3 % slower.
template <int kCount, class F>
INGOT_SIMD void unroll(const F& f) {
  unroll(std::make_integer_sequence<int, kCount>{}, f);
}
#define INGOT_INLINE __attribute__((always_inline))

enum class Store { Overwrite, Add };

// c(num_rows, num_cols) = or += a panel of a · a panel of b over num_k.
[[gnu::noinline]] void tile_product(int64_t num_k, const float* a, const float* b, float* c,
                                    int64_t c_stride, int64_t num_rows, int64_t num_cols,
                                    Store how) {
  FloatV sums[kTileRows][kTileVectors];
  unroll<kTileRows>([&](auto i) INGOT_INLINE {
    unroll<kTileVectors>([&](auto j) INGOT_INLINE { sums[i][j] = FloatV{}; });
  });
  // Fetched while the sums are formed: +7 % where a large c is added to, nothing where it is not.
  for (int64_t i = 0; i < num_rows; ++i) {
    __builtin_prefetch(c + i * c_stride);
    __builtin_prefetch(c + i * c_stride + num_cols - 1);
  }
  const auto step = [&](const float* a_k, const float* b_k) INGOT_INLINE {
    FloatV b_row[kTileVectors];
    unroll<kTileVectors>([&](auto j) INGOT_INLINE { b_row[j] = load(b_k + j * kLanes<float>); });
    unroll<kTileRows>([&](auto i) INGOT_INLINE {
      const FloatV a_element = a_k[i] - FloatV{};  // x - 0 is x: one broadcasting load
      unroll<kTileVectors>([&](auto j)
                               INGOT_INLINE { sums[i][j] = fma(a_element, b_row[j], sums[i][j]); });
    });
  };
  // Four steps an iteration gave 93 GFLOP/s where eight give 100 (the tile alone, a in L2).
  constexpr int kSteps = 8;
  int64_t k = 0;
  for (; k + kSteps <= num_k; k += kSteps, a += kSteps * kTileRows, b += kSteps * kTileCols) {
    unroll<kSteps>([&](auto s) INGOT_INLINE { step(a + s * kTileRows, b + s * kTileCols); });
  }
  for (; k < num_k; ++k, a += kTileRows, b += kTileCols) step(a, b);

  const auto for_tile = [&](auto f) INGOT_INLINE {
    unroll<kTileRows>(
        [&](auto i) INGOT_INLINE { unroll<kTileVectors>([&](auto j) INGOT_INLINE { f(i, j); }); });
  };
  if (num_rows == kTileRows && num_cols == kTileCols) {
    if (how == Store::Add) {
      for_tile([&](auto i, auto j) INGOT_INLINE {
        float* p = c + i * c_stride + j * kLanes<float>;
        store(p, load(p) + sums[i][j]);
      });
    } else {
      for_tile([&](auto i, auto j)
                   INGOT_INLINE { store(c + i * c_stride + j * kLanes<float>, sums[i][j]); });
    }
    return;
  }
  float edge[kTileRows][kTileCols];
  for_tile([&](auto i, auto j) INGOT_INLINE { store(&edge[i][j * kLanes<float>], sums[i][j]); });
  for (int64_t i = 0; i < num_rows; ++i) {
    for (int64_t j = 0; j < num_cols; ++j) {
      float& element = c[i * c_stride + j];
      element = how == Store::Add ? element + edge[i][j] : edge[i][j];
    }
  }
}

// Panels of the rows (of b: columns) from `first` on, over [k, k + num_k). `along_k`: stored rows
// run along k.
template <int kWidth, class T>
void pack(const T* data, int64_t stride, bool along_k, int64_t first, int64_t num_rows, int64_t k,
          int64_t num_k, float* to) {
  if (along_k) {
    pack_across<kWidth>(data + first * stride + k, stride, num_rows, num_k, to);
  } else {
    pack_along<kWidth>(data + k * stride + first, stride, num_rows, num_k, to);
  }
}

template <class F8>
ByteValues all_values() {
  ByteValues values;
  for (int code = 0; code < 256; ++code)
    values.of[code] = F8{static_cast<uint8_t>(code)}.to_float();
  return values;
}

// The scaled values of an 8-bit operand's codes.
ByteValues values_of(const GemmOperand& operand) {
  static const ByteValues e4m3 = all_values<F8E4M3>(), e5m2 = all_values<F8E5M2>();
  ByteValues values = operand.dtype == DType::F8E5M2 ? e5m2 : e4m3;
  for (float& value : values.of) value *= operand.scale;
  return values;
}

bool is_8_bit(DType dtype) {
  return dtype == DType::F8E4M3 || dtype == DType::F8E5M2;
}

template <int kWidth>
void pack(const GemmOperand& operand, bool along_k, int64_t first, int64_t num_rows, int64_t k,
          int64_t num_k, float* to) {
  if (operand.dtype == DType::BF16) {
    pack<kWidth>(static_cast<const Bf16*>(operand.data), operand.stride, along_k, first, num_rows,
                 k, num_k, to);
  } else if (is_8_bit(operand.dtype)) {
    const int64_t row_stride = along_k ? operand.stride : 1,
                  k_stride = along_k ? 1 : operand.stride;
    const auto* bytes = static_cast<const uint8_t*>(operand.data);
    pack_bytes<kWidth>(bytes + first * row_stride + k * k_stride, row_stride, k_stride, num_rows,
                       num_k, values_of(operand), to);
  } else {
    pack<kWidth>(static_cast<const float*>(operand.data), operand.stride, along_k, first, num_rows,
                 k, num_k, to);
  }
}

// Fetches this tile's share of the next panel of b into L2: +3 % on the head's forward product,
// whose b is the largest; elsewhere within the noise.
void prefetch_share(const float* panel, int64_t num_k, int64_t tile, int64_t num_tiles) {
  constexpr int64_t kLine = 16;  // floats
  const int64_t num_lines = kTileCols * num_k / kLine;
  const int64_t end = (tile + 1) * num_lines / num_tiles;
  for (int64_t i = tile * num_lines / num_tiles; i < end; ++i) {
    __builtin_prefetch(panel + i * kLine, 0, 2);
  }
}

// Equal parts up to 8: K 344 is 176 + 168, since 256 + 88 would touch c for little work.
int64_t k_part(int64_t K) {
  const int64_t parts = std::max<int64_t>(1, (K + kMaxK - 1) / kMaxK);
  const int64_t part = (K + parts - 1) / parts;
  return std::clamp<int64_t>((part + 7) / 8 * 8, 8, kMaxK);
}

// c(num_rows, num_cols) at `c` for the block's rows and columns; num_cols <= kMaxCols. K = 0 takes
// one empty part, which writes the zeros.
void wide_product(const Gemm& gemm, const GemmBlock& block, float* c, int64_t c_stride,
                  bool accumulate) {
  const int64_t part = k_part(gemm.K);
  float* a_panels = packed_a.get(kMaxRows * kMaxK);
  float* b_panels = packed_b.get(kMaxCols * kMaxK);
  int64_t k = 0;
  do {
    const int64_t num_k = std::min(part, gemm.K - k);
    const Store how = accumulate || k > 0 ? Store::Add : Store::Overwrite;
    pack<kTileCols>(gemm.b, gemm.b.transposed, block.col, block.num_cols, k, num_k, b_panels);
    for (int64_t first = 0; first < block.num_rows; first += kMaxRows) {
      const int64_t num_rows = std::min(kMaxRows, block.num_rows - first);
      pack<kTileRows>(gemm.a, !gemm.a.transposed, block.row + first, num_rows, k, num_k, a_panels);
      const int64_t num_tiles = (num_rows + kTileRows - 1) / kTileRows;
      for (int64_t j = 0; j < block.num_cols; j += kTileCols) {
        const int64_t cols = std::min<int64_t>(kTileCols, block.num_cols - j);
        const float* panel = b_panels + j * num_k;
        for (int64_t tile = 0; tile < num_tiles; ++tile) {
          const int64_t i = tile * kTileRows;
          if (j + kTileCols < block.num_cols) {
            prefetch_share(panel + kTileCols * num_k, num_k, tile, num_tiles);
          }
          tile_product(num_k, a_panels + i * num_k, panel, c + (first + i) * c_stride + j, c_stride,
                       std::min<int64_t>(kTileRows, num_rows - i), cols, how);
        }
      }
    }
    k += part;
  } while (k < gemm.K);
}

// Calls f on parts of the block of at most (rows, cols).
template <class F>
void for_parts(const GemmBlock& block, int64_t rows, int64_t cols, const F& f) {
  for (int64_t j = 0; j < block.num_cols; j += cols) {
    for (int64_t i = 0; i < block.num_rows; i += rows) {
      f(GemmBlock{block.row + i, block.col + j, std::min(rows, block.num_rows - i),
                  std::min(cols, block.num_cols - j)});
    }
  }
}

}  // namespace

void gemm_block(const Gemm& gemm, const GemmBlock& block) {
  if (gemm.c_dtype == DType::F32) {
    for_parts(block, block.num_rows, kMaxCols, [&](const GemmBlock& part) {
      wide_product(gemm, part, static_cast<float*>(gemm.c) + part.row * gemm.c_stride + part.col,
                   gemm.c_stride, gemm.accumulate);
    });
    return;
  }
  for_parts(block, kScratchRows, kScratchCols, [&](const GemmBlock& part) {
    float* sums = wide_c.get(kScratchRows * kScratchCols);
    wide_product(gemm, part, sums, kScratchCols, false);
    for (int64_t i = 0; i < part.num_rows; ++i) {
      const float* from = sums + i * kScratchCols;
      Bf16* to = static_cast<Bf16*>(gemm.c) + (part.row + i) * gemm.c_stride + part.col;
      for_each_vector<float>(part.num_cols, [&](int64_t j, auto count) INGOT_INLINE {
        FloatV sum = load_n(from + j, count);
        if (gemm.accumulate) sum += load_n(to + j, count);
        store_n(to + j, sum, count);
      });
    }
  });
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/isa_end.h"
