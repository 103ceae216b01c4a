// The single-threaded GEMM that all CPU GEMMs are built from: a packed kernel in the manner of Goto
// and van de Geijn. docs/ops-matmul.md has the measurements against oneDNN.
#pragma once

#include <cstdint>

#include "core/device/isa.h"
#include "core/tensor/dtype.h"

namespace ingot::cpu {

// A row-major matrix, F32, BF16 or 8-bit. `transposed`: the stored matrix is its transpose.
struct GemmOperand {
  const void* data = nullptr;
  DType dtype = DType::F32;
  int64_t stride = 0;  // elements between stored rows
  bool transposed = false;
  float scale = 1;  // of 8-bit elements: value = scale · stored element
};

// c(M, N) = a(M, K) · b(K, N), or c += that, or c = addend + that. c is F32 or BF16; accumulates in
// F32.
struct Gemm {
  int64_t M = 0, N = 0, K = 0;
  GemmOperand a, b;
  void* c = nullptr;
  DType c_dtype = DType::F32;
  int64_t c_stride = 0;
  bool accumulate = false;
  const void* addend = nullptr;  // GPU only: added instead of c; has the layout of c
};

// A part of c. The summation order over k depends only on K: every partition of c into blocks gives
// the same bits.
struct GemmBlock {
  int64_t row = 0, col = 0, num_rows = 0, num_cols = 0;
};

// Cut blocks at multiples of these for best speed on every ISA.
inline constexpr int64_t kGemmRowStep = 12, kGemmColStep = 32;

INGOT_CPU_KERNEL(void, gemm_block, (const Gemm& gemm, const GemmBlock& block))

}  // namespace ingot::cpu
