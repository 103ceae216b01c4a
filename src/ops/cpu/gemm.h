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

// Cut blocks at multiples of these for best speed on every ISA.
inline constexpr int64_t kGemmRowStep = 12, kGemmColStep = 32;

// Operands are F32, BF16 or 8-bit, c is F32 or BF16.
INGOT_CPU_KERNEL(void, gemm_block, (const Gemm& gemm, const GemmBlock& block))

}  // namespace ingot::cpu
