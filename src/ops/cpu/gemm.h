// The single-threaded matrix product that all products are made of: a packed kernel in the manner
// of Goto and van de Geijn. docs/ops-matmul.md has the measurements against oneDNN.
#pragma once

#include <cstdint>

#include "core/device/isa.h"
#include "core/tensor/dtype.h"

namespace ingot::cpu {

// A matrix in row-major memory, F32, BF16 or 8-bit; `transposed`: what is stored is its transpose.
struct GemmOperand {
  const void* data = nullptr;
  DType dtype = DType::F32;
  int64_t stride = 0;  // elements between stored rows
  bool transposed = false;
  float scale = 1;  // of 8-bit elements: each counts as that many times what is stored
};

// c(M, N) = a(M, K) · b(K, N), or c += that, or c = addend + that. c is F32 or BF16; sums are F32.
struct Gemm {
  int64_t M = 0, N = 0, K = 0;
  GemmOperand a, b;
  void* c = nullptr;
  DType c_dtype = DType::F32;
  int64_t c_stride = 0;
  bool accumulate = false;
  const void* addend = nullptr;  // on a GPU: what is added to instead of c, and lies like c
};

// A part of c. Each element is summed over k in an order that K alone fixes: the same bits come out
// however c is cut into blocks.
struct GemmBlock {
  int64_t row = 0, col = 0, num_rows = 0, num_cols = 0;
};

// Blocks are best cut at multiples of these, which hold for every ISA.
inline constexpr int64_t kGemmRowStep = 12, kGemmColStep = 32;

INGOT_CPU_KERNEL(void, gemm_block, (const Gemm& gemm, const GemmBlock& block))

}  // namespace ingot::cpu
