// The single-threaded GEMM that all CPU GEMMs are built from: a packed kernel in the manner of Goto
// and van de Geijn. docs/ops-matmul.md has the measurements against oneDNN.
#pragma once

#include <cstdint>

#include "core/device/isa.h"
#include "ops/common/gemm.h"

namespace ingot::cpu {

// A part of c. The summation order over k depends only on K: every partition of c into blocks gives
// the same bits.
struct GemmBlock {
  int64_t row = 0, col = 0, num_rows = 0, num_cols = 0;
};

// Sums over k run through parts of this many words of 32 bits, one after the other; the sum of each
// part is added to those before it. This order fixes the bits of c. Parts are equal up to 8: of
// F32, K 344 is 176 + 168, since 256 + 88 would touch c for little work.
inline constexpr int64_t kGemmMaxWords = 256;
constexpr int64_t gemm_part(int64_t words) {
  const int64_t parts = words > kGemmMaxWords ? (words + kGemmMaxWords - 1) / kGemmMaxWords : 1;
  const int64_t part = (((words + parts - 1) / parts) + 7) / 8 * 8;
  return part < 8 ? 8 : part > kGemmMaxWords ? kGemmMaxWords : part;
}

// Cut blocks at multiples of these for best speed on every ISA.
inline constexpr int64_t kGemmRowStep = 12, kGemmColStep = 32;

// Operands are F32, BF16 or 8-bit, c is F32 or BF16. With AVX512-BF16, a BF16 operand and another
// that is BF16 or, rounded to it, F32 are multiplied in BF16; else all operands are widened to F32.
INGOT_DOT_KERNEL(void, gemm_block, (const Gemm& gemm, const GemmBlock& block))

}  // namespace ingot::cpu
