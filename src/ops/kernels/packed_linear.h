// Kernels of ops/packed_linear.h, for the CPU alone.
#pragma once

#include "ops/common/kernel.h"
#include "ops/packed_linear.h"

namespace ingot::cpu {

// y(N, w.rows) = x(N, w.cols) · wᵀ + addend. Strides are between rows.
struct PackedGemm {
  PackedWeight w;
  int64_t N = 0;
  const float* x = nullptr;
  int64_t x_stride = 0;
  float* y = nullptr;
  int64_t y_stride = 0;
  const float* addend = nullptr;  // null: none
  int64_t addend_stride = 0;
  std::byte* scratch = nullptr;  // packed_linear_workspace_bytes()
};

INGOT_DOT_KERNEL(void, packed_gemm, (Context & ctx, const PackedGemm& gemm))

// False if a scale is beyond 16 bits.
INGOT_DOT_KERNEL(bool, pack_weights,
                 (Context & ctx, const Tensor& rows, int64_t first_row, const PackedWeight& w))
INGOT_DOT_KERNEL(void, unpack_weights,
                 (Context & ctx, const PackedWeight& w, const int32_t* ids, const Tensor& y))

}  // namespace ingot::cpu
