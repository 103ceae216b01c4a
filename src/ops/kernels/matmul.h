// Kernels of ops/matmul.h.
#pragma once

#include "ops/common/gemm.h"
#include "ops/common/kernel.h"

namespace ingot {

// The whole product; all operands F64, or each F32 or BF16 (a GPU's also F16), a and b on the CPU
// also 8-bit.
INGOT_KERNEL(void, matmul, (Context & ctx, const Gemm& gemm))

namespace cuda {

// The most scratch that one of cuBLASLt's algorithms may ask for.
inline constexpr int64_t kMatmulWorkspaceBytes = int64_t{64} << 20;

}  // namespace cuda
}  // namespace ingot
