// One GEMM, as kernels of either device take it.
#pragma once

#include <cstdint>

#include "core/tensor/dtype.h"

namespace ingot {

// A matrix in row-major memory: F64, F32, BF16, on a GPU F16, on the CPU 8-bit. `transposed`: what
// is stored is its transpose.
struct GemmOperand {
  const void* data = nullptr;
  DType dtype = DType::F32;
  int64_t stride = 0;  // elements between stored rows
  bool transposed = false;
  float scale = 1;  // of 8-bit elements: each counts as that many times what is stored
};

// c(M, N) = a(M, K) · b(K, N), or c += that, or c = addend + that. Sums are F32, of F64 they are
// F64.
struct Gemm {
  int64_t M = 0, N = 0, K = 0;
  GemmOperand a, b;
  void* c = nullptr;
  DType c_dtype = DType::F32;
  int64_t c_stride = 0;
  bool accumulate = false;
  const void* addend = nullptr;  // on a GPU: what is added to instead of c, and lies like c
};

}  // namespace ingot
