// The single-threaded matrix product that all products are made of: a packed kernel in the manner
// of Goto and van de Geijn. docs/ops-matmul.md has the measurements against oneDNN.
#pragma once

#include <cstdint>

#include "core/device/isa.h"
#include "ops/common/gemm.h"

namespace ingot::cpu {

// A part of c. Each element is summed over k in an order that K alone fixes: the same bits come out
// however c is cut into blocks.
struct GemmBlock {
  int64_t row = 0, col = 0, num_rows = 0, num_cols = 0;
};

// Blocks are best cut at multiples of these, which hold for every ISA.
inline constexpr int64_t kGemmRowStep = 12, kGemmColStep = 32;

// Operands are F32, BF16 or 8-bit, c is F32 or BF16.
INGOT_CPU_KERNEL(void, gemm_block, (const Gemm& gemm, const GemmBlock& block))

}  // namespace ingot::cpu
