// Kernels of ops/matmul.h.
#pragma once

#include "ops/common/gemm.h"
#include "ops/common/kernel.h"

namespace ingot {

// One GEMM. All operands F64, or each F32 or BF16 (on a GPU also F16); on the CPU a and b may be
// 8-bit.
INGOT_KERNEL(void, matmul, (Context & ctx, const Gemm& gemm))

namespace cuda {

// The largest scratch that a cuBLASLt algorithm may request.
inline constexpr int64_t kMatmulWorkspaceBytes = int64_t{64} << 20;

}  // namespace cuda
}  // namespace ingot
