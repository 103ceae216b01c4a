#include "ops/cpu/gemm.h"

#include <sys/mman.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "ops/cpu/gemm_pack.h"
#include "ops/cpu/unroll.h"

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

// The panels of a (kMaxRows, kMaxK) stay in L2, from 512 KB on, while each panel of b
// (kMaxK, kTileCols) passes; b waits in L3. kMaxRows 144 and 288 measured the same.
constexpr int64_t kMaxK = kGemmMaxK;
constexpr int64_t kMaxRows = 192;
constexpr int64_t kMaxCols = 2048;
constexpr int64_t kGroupRows = 48;                         // of a, packed at once
constexpr int64_t kScratchRows = 512, kScratchCols = 512;  // F32 sums of a BF16 c
static_assert(kMaxRows % kGroupRows == 0 && kGroupRows % kTileRows == 0);
static_assert(kMaxCols % kTileCols == 0);

struct Free {
  void operator()(float* p) const { std::free(p); }
};

// Where a thread packs and sums, kept for its life: nothing is allocated after the first step. Two
// huge pages: 1 % on the shapes of debug_120m.
class Buffers {
 public:
  float* b() {
    constexpr size_t kHugePage = size_t{1} << 21;
    constexpr size_t kFloats = kMaxCols * kMaxK + kMaxRows * kMaxK + kScratchRows * kScratchCols;
    constexpr size_t kBytes = (kFloats * sizeof(float) + kHugePage - 1) / kHugePage * kHugePage;
    if (!data_) {
      data_.reset(static_cast<float*>(std::aligned_alloc(kHugePage, kBytes)));
      if (!data_) throw std::bad_alloc();
      madvise(data_.get(), kBytes, MADV_HUGEPAGE);  // only a wish
    }
    return data_.get();
  }
  float* a() { return b() + kMaxCols * kMaxK; }
  float* sums() { return a() + kMaxRows * kMaxK; }

 private:
  std::unique_ptr<float, Free> data_;
};
thread_local Buffers buffers;

enum class Store { Overwrite, Add };

constexpr int kSteps = 8;  // k in an iteration of the tile: 4 were 7 % slower (Zen 3)
constexpr int kLines = std::max(kTileRows, kSteps);  // fetched ahead in an iteration

// What a tile fetches for those after it: kLines lines `stride` bytes apart in every iteration,
// `step` bytes on in the next. A few at a time and into L1: Zen 4 drops what exceeds 24 lines
// awaited, and ignores the hints for other levels.
struct Ahead {
  const char* lines = nullptr;
  int64_t stride = 0, step = 0;
};

// c(num_rows, num_cols) = or += a panel of a · a panel of b over num_k; of the panels, the first
// kRows rows and kVectors vectors are computed.
template <int kRows, int kVectors>
[[gnu::noinline]] void multiply_tile(int64_t num_rows, int64_t num_cols, int64_t num_k,
                                     const float* a, const float* b, float* c, int64_t c_stride,
                                     Store how, Ahead ahead) {
  FloatV sums[kRows][kVectors];
  const auto for_tile = [&](auto f) INGOT_INLINE {
    unroll<kRows>([&](auto i)
                      INGOT_INLINE { unroll<kVectors>([&](auto j) INGOT_INLINE { f(i, j); }); });
  };
  for_tile([&](auto i, auto j) INGOT_INLINE { sums[i][j] = FloatV{}; });
  const auto step = [&](const float* a_k, const float* b_k) INGOT_INLINE {
    FloatV b_row[kVectors];
    unroll<kVectors>([&](auto j) INGOT_INLINE { b_row[j] = load(b_k + j * kLanes<float>); });
    unroll<kRows>([&](auto i) INGOT_INLINE {
      const FloatV a_element = a_k[i] - FloatV{};  // x - 0 is x: one broadcasting load
      unroll<kVectors>([&](auto j)
                           INGOT_INLINE { sums[i][j] = fma(a_element, b_row[j], sums[i][j]); });
    });
  };
  int64_t k = 0;
  for (; k + kSteps <= num_k; k += kSteps, a += kSteps * kTileRows, b += kSteps * kTileCols) {
    const int64_t row = k / kSteps;  // of c, one at a time: all at once cost up to 3 %
    if (row < num_rows) {
      __builtin_prefetch(c + row * c_stride);
      __builtin_prefetch(c + row * c_stride + num_cols - 1);
    }
    if (ahead.lines != nullptr) {
      unroll<kLines>([&](auto i)
                         INGOT_INLINE { __builtin_prefetch(ahead.lines + i * ahead.stride); });
      ahead.lines += ahead.step;
    }
    unroll<kSteps>([&](auto s) INGOT_INLINE { step(a + s * kTileRows, b + s * kTileCols); });
  }
  for (; k < num_k; ++k, a += kTileRows, b += kTileCols) step(a, b);

  const auto put = [&](float* to, FloatV sum, auto count) INGOT_INLINE {
    store_n(to, how == Store::Add ? load_n(to, count) + sum : sum, count);
  };
  if (num_rows == kRows && num_cols == kVectors * kLanes<float>) {
    constexpr std::integral_constant<int64_t, kLanes<float>> kAll;
    for_tile([&](auto i, auto j)
                 INGOT_INLINE { put(c + i * c_stride + j * kLanes<float>, sums[i][j], kAll); });
    return;
  }
  float edge[kRows][kVectors * kLanes<float>];
  for_tile([&](auto i, auto j) INGOT_INLINE { store(&edge[i][j * kLanes<float>], sums[i][j]); });
  for (int64_t i = 0; i < num_rows; ++i) {
    for_each_vector<float>(num_cols, [&](int64_t j, auto count) INGOT_INLINE {
      put(c + i * c_stride + j, load(&edge[i][j]), count);
    });
  }
}

// The smallest tile that covers num_rows and num_cols. Powers of two leave a third or two of the
// rows of a tile.
template <int kRows = kTileRows, int kVectors = kTileVectors, class... Arguments>
void fitting_tile(int64_t num_rows, int64_t num_cols, const Arguments&... arguments) {
  constexpr int kFewerRows = kRows - kTileRows / 3;
  if constexpr (kFewerRows > 0) {
    if (num_rows <= kFewerRows) {
      return fitting_tile<kFewerRows, kVectors>(num_rows, num_cols, arguments...);
    }
  }
  if constexpr (kVectors > 1) {
    if (num_cols <= (kVectors - 1) * kLanes<float>) {
      return fitting_tile<kRows, kVectors - 1>(num_rows, num_cols, arguments...);
    }
  }
  multiply_tile<kRows, kVectors>(num_rows, num_cols, arguments...);
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

// A slice of an operand as it is stored, from row (of b: column) `first` and `k` on: kLines rows
// where stored rows run along k, else one line of each k.
Ahead stored_slice(const GemmOperand& operand, bool along_k, int64_t first, int64_t k,
                   int64_t slice) {
  constexpr int64_t kLine = 64;
  const int64_t size = size_of(operand.dtype), stride = operand.stride * size;
  const auto* data = static_cast<const char*>(operand.data);
  if (along_k) return {data + (first + slice * kLines) * stride + k * size, stride, kSteps * size};
  return {data + k * stride + first * size + slice * kLine, stride, kSteps * stride};
}

// A slice of a packed panel of b; two cover it.
Ahead packed_slice(const float* panel, int64_t num_k, int64_t slice) {
  constexpr int64_t kLine = 64, kStep = kLines * kLine;
  return {reinterpret_cast<const char*>(panel) + slice * kStep * (num_k / kSteps), kLine, kStep};
}

// c(num_rows, num_cols) at `c` for the block's rows and columns; num_cols <= kMaxCols. K = 0 takes
// one empty part, which writes the zeros.
// Operands are packed as they come up, a by groups of rows and b by panels, while tiles before them
// fetch what is stored: packing that waits for memory takes 9 % of the time, this way 4 %.
void wide_gemm(const Gemm& gemm, const GemmBlock& block, float* c, int64_t c_stride,
               bool accumulate) {
  const int64_t part = gemm_k_part(gemm.K);
  const bool a_along_k = !gemm.a.transposed, b_along_k = gemm.b.transposed;
  float* const a_panels = buffers.a();
  float* const b_panels = buffers.b();
  int64_t k = 0;
  do {
    const int64_t num_k = std::min(part, gemm.K - k);
    const Store how = accumulate || k > 0 ? Store::Add : Store::Overwrite;
    for (int64_t first = 0; first < block.num_rows; first += kMaxRows) {
      const int64_t num_rows = std::min(kMaxRows, block.num_rows - first);
      const bool last_rows = first + num_rows == block.num_rows;
      for (int64_t j = 0; j < block.num_cols; j += kTileCols) {
        const int64_t num_cols = std::min<int64_t>(kTileCols, block.num_cols - j);
        float* panel = b_panels + j * num_k;
        if (first == 0) {
          pack<kTileCols>(gemm.b, b_along_k, block.col + j, num_cols, k, num_k, panel);
        }
        for (int64_t i = 0; i < num_rows; i += kTileRows) {
          const int64_t group = i / kGroupRows * kGroupRows, slice = (i - group) / kTileRows;
          if (j == 0 && i == group) {
            pack<kTileRows>(gemm.a, a_along_k, block.row + first + i,
                            std::min(kGroupRows, num_rows - i), k, num_k, a_panels + i * num_k);
          }
          const auto a_slice = [&](int64_t row, int64_t from_k) {
            return stored_slice(gemm.a, a_along_k, block.row + row, from_k, slice);
          };
          Ahead ahead;
          if (j == 0 && group + kGroupRows < num_rows) {
            ahead = a_slice(first + group + kGroupRows, k);
          } else if (j + num_cols == block.num_cols && group + kGroupRows >= num_rows) {
            ahead = last_rows ? a_slice(0, k + num_k) : a_slice(first + num_rows, k);
          } else if (j > 0 && first == 0 && slice * kLines < kTileCols && group == 0) {
            ahead = stored_slice(gemm.b, b_along_k, block.col + j + kTileCols, k, slice);
          } else if (j > 0 && first > 0 && i < 2 * kTileRows) {
            ahead = packed_slice(panel + kTileCols * num_k, num_k, slice);
          }
          fitting_tile(std::min<int64_t>(kTileRows, num_rows - i), num_cols, num_k,
                       a_panels + i * num_k, panel, c + (first + i) * c_stride + j, c_stride, how,
                       ahead);
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
      wide_gemm(gemm, part, static_cast<float*>(gemm.c) + part.row * gemm.c_stride + part.col,
                gemm.c_stride, gemm.accumulate);
    });
    return;
  }
  for_parts(block, kScratchRows, kScratchCols, [&](const GemmBlock& part) {
    float* sums = buffers.sums();
    wide_gemm(gemm, part, sums, kScratchCols, false);
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

#include "core/device/isa_end.h"
