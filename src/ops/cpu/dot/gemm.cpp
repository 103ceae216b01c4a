#include "ops/cpu/gemm.h"

#include <sys/mman.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "ops/cpu/dot/gemm_pack.h"
#include "ops/cpu/dot/gemm_tile.h"

namespace ingot::cpu::INGOT_ISA {
namespace {

constexpr int kTileRows = kGemmTileRows, kTileCols = kGemmTileCols;
static_assert(kGemmRowStep % kTileRows == 0 && kGemmColStep % kTileCols == 0);

// The panels of a (kMaxRows, kMaxWords) stay in L2, from 512 KB on, while each panel of b
// (kMaxWords, kTileCols) passes; b waits in L3. kMaxRows 144 and 288 measured the same.
constexpr int64_t kMaxWords = kGemmMaxWords;
constexpr int64_t kMaxRows = 192;
constexpr int64_t kMaxCols = 2048;
constexpr int64_t kGroupRows = 48;                         // of a, packed at once
constexpr int64_t kScratchRows = 512, kScratchCols = 512;  // F32 sums of a BF16 c
static_assert(kMaxRows % kGroupRows == 0 && kGroupRows % kTileRows == 0);
static_assert(kMaxCols % kTileCols == 0);

struct Free {
  void operator()(std::byte* p) const { std::free(p); }
};

// Where a thread packs and sums, kept for its life: nothing is allocated after the first step. Two
// huge pages: 1 % on the shapes of debug_120m.
class Buffers {
 public:
  uint32_t* b() { return reinterpret_cast<uint32_t*>(memory()); }
  uint32_t* a() { return b() + kMaxCols * kMaxWords; }
  float* sums() { return reinterpret_cast<float*>(a() + kMaxRows * kMaxWords); }

 private:
  std::byte* memory() {
    constexpr size_t kHugePage = size_t{1} << 21;
    constexpr size_t kWords =
        kMaxCols * kMaxWords + kMaxRows * kMaxWords + kScratchRows * kScratchCols;
    constexpr size_t kBytes = (kWords * sizeof(float) + kHugePage - 1) / kHugePage * kHugePage;
    if (!data_) {
      data_.reset(static_cast<std::byte*>(std::aligned_alloc(kHugePage, kBytes)));
      if (!data_) throw std::bad_alloc();
      madvise(data_.get(), kBytes, MADV_HUGEPAGE);  // only a wish
    }
    return data_.get();
  }

  std::unique_ptr<std::byte, Free> data_;
};
thread_local Buffers buffers;

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

// Rows (of b: columns) of an operand from `first` on, over [k, k + num_k). `along_k`: stored rows
// run along k.
struct Slice {
  const GemmOperand& operand;
  bool along_k;
  int64_t first, num_rows, k, num_k;

  template <class Words, int kWidth>
  void pack(uint32_t* to) const {
    const auto* data = static_cast<const typename Words::Element*>(operand.data);
    if (along_k) {
      pack_across<Words, kWidth>(data + first * operand.stride + k, operand.stride, num_rows, num_k,
                                 to);
    } else {
      pack_along<Words, kWidth>(data + k * operand.stride + first, operand.stride, num_rows, num_k,
                                to);
    }
  }

  template <int kWidth>
  void pack_codes(uint32_t* to) const {
    const int64_t row_stride = along_k ? operand.stride : 1,
                  k_stride = along_k ? 1 : operand.stride;
    const auto* bytes = static_cast<const uint8_t*>(operand.data);
    pack_bytes<kWidth>(bytes + first * row_stride + k * k_stride, row_stride, k_stride, num_rows,
                       num_k, values_of(operand), to);
  }
};

// Panels of a slice in the words that Multiply takes.
template <class Multiply, int kWidth>
void pack(const Slice& slice, uint32_t* to) {
  if constexpr (Multiply::kDepth == 2) {
    if (slice.operand.dtype == DType::BF16) return slice.pack<Bf16Pairs, kWidth>(to);
    slice.pack<RoundedPairs, kWidth>(to);
  } else if (slice.operand.dtype == DType::F32) {
    slice.pack<Widened<float>, kWidth>(to);
  } else if (slice.operand.dtype == DType::BF16) {
    slice.pack<Widened<Bf16>, kWidth>(to);
  } else {
    slice.pack_codes<kWidth>(to);
  }
}

// What a tile fetches of an operand as it is stored, from row (of b: column) `first` and `k` on:
// kLines rows where stored rows run along k, else one line of each k.
template <class Multiply>
Fetch stored_lines(const GemmOperand& operand, bool along_k, int64_t first, int64_t k,
                   int64_t slice) {
  constexpr int64_t kLine = 64, kStepK = kSteps * Multiply::kDepth;
  const int64_t size = size_of(operand.dtype), stride = operand.stride * size;
  const auto* data = static_cast<const char*>(operand.data);
  if (along_k) return {data + (first + slice * kLines) * stride + k * size, stride, kStepK * size};
  return {data + k * stride + first * size + slice * kLine, stride, kStepK * stride};
}

// The same of a packed panel of b; two cover it.
Fetch packed_lines(const uint32_t* panel, int64_t num_words, int64_t slice) {
  constexpr int64_t kLine = 64, kStep = kLines * kLine;
  return {reinterpret_cast<const char*>(panel) + slice * kStep * (num_words / kSteps), kLine,
          kStep};
}

// c of the block, the sums of all parts of k at out; num_cols <= kMaxCols. K = 0 takes one empty
// part, which writes the zeros.
// Operands are packed as they come up, a by groups of rows and b by panels, while tiles before them
// fetch what is stored: packing that waits for memory takes 9 % of the time, this way 4 %.
template <class Multiply>
void wide_gemm(const Gemm& gemm, const GemmBlock& block, BlockSums out) {
  constexpr int64_t kDepth = Multiply::kDepth;
  const int64_t part = gemm_part((gemm.K + kDepth - 1) / kDepth) * kDepth;
  const bool a_along_k = !gemm.a.transposed, b_along_k = gemm.b.transposed;
  uint32_t* const a_panels = buffers.a();
  uint32_t* const b_panels = buffers.b();
  Bf16* const c = out.c;
  int64_t k = 0;
  do {
    const int64_t num_k = std::min(part, gemm.K - k), num_words = (num_k + kDepth - 1) / kDepth;
    out.c = k + part < gemm.K ? nullptr : c;
    for (int64_t first = 0; first < block.num_rows; first += kMaxRows) {
      const int64_t num_rows = std::min(kMaxRows, block.num_rows - first);
      const bool last_rows = first + num_rows == block.num_rows;
      for (int64_t j = 0; j < block.num_cols; j += kTileCols) {
        const int64_t num_cols = std::min<int64_t>(kTileCols, block.num_cols - j);
        uint32_t* panel = b_panels + j * num_words;
        if (first == 0) {
          pack<Multiply, kTileCols>({gemm.b, b_along_k, block.col + j, num_cols, k, num_k}, panel);
        }
        for (int64_t i = 0; i < num_rows; i += kTileRows) {
          const int64_t group = i / kGroupRows * kGroupRows, slice = (i - group) / kTileRows;
          if (j == 0 && i == group) {
            pack<Multiply, kTileRows>({gemm.a, a_along_k, block.row + first + i,
                                       std::min(kGroupRows, num_rows - i), k, num_k},
                                      a_panels + i * num_words);
          }
          const auto a_lines = [&](int64_t row, int64_t from_k) {
            return stored_lines<Multiply>(gemm.a, a_along_k, block.row + row, from_k, slice);
          };
          Fetch ahead;
          if (j == 0 && group + kGroupRows < num_rows) {
            ahead = a_lines(first + group + kGroupRows, k);
          } else if (j + num_cols == block.num_cols && group + kGroupRows >= num_rows) {
            ahead = last_rows ? a_lines(0, k + num_k) : a_lines(first + num_rows, k);
          } else if (j > 0 && first == 0 && slice * kLines < kTileCols && group == 0) {
            ahead = stored_lines<Multiply>(gemm.b, b_along_k, block.col + j + kTileCols, k, slice);
          } else if (j > 0 && first > 0 && i < 2 * kTileRows) {
            ahead = packed_lines(panel + kTileCols * num_words, num_words, slice);
          }
          fitting_tile<Multiply>(std::min<int64_t>(kTileRows, num_rows - i), num_cols, num_words,
                                 a_panels + i * num_words, panel, out, first + i, j, ahead);
        }
      }
    }
    out.add = true;
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

template <class Multiply>
void gemm_by(const Gemm& gemm, const GemmBlock& block) {
  const auto at = [&](auto* c, const GemmBlock& part) {
    return c + part.row * gemm.c_stride + part.col;
  };
  if (gemm.c_dtype == DType::F32) {
    for_parts(block, block.num_rows, kMaxCols, [&](const GemmBlock& part) {
      wide_gemm<Multiply>(gemm, part,
                          {at(static_cast<float*>(gemm.c), part), gemm.c_stride, gemm.accumulate});
    });
    return;
  }
  // Sums of all parts of k but the last wait in F32.
  const bool one_part = gemm.K <= kGemmMaxWords * Multiply::kDepth;
  for_parts(block, one_part ? block.num_rows : kScratchRows, one_part ? kMaxCols : kScratchCols,
            [&](const GemmBlock& part) {
              wide_gemm<Multiply>(
                  gemm, part,
                  {buffers.sums(), kScratchCols, /*add=*/false,
                   at(static_cast<Bf16*>(gemm.c), part), gemm.c_stride, gemm.accumulate});
            });
}

}  // namespace

void gemm_block(const Gemm& gemm, const GemmBlock& block) {
#if defined(INGOT_BF16_DOT)
  const auto is = [&](DType a, DType b) { return gemm.a.dtype == a && gemm.b.dtype == b; };
  if (is(DType::BF16, DType::BF16) || is(DType::F32, DType::BF16) || is(DType::BF16, DType::F32))
    return gemm_by<MultiplyBf16>(gemm, block);
#endif
  gemm_by<MultiplyF32>(gemm, block);
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
