// GPU kernels of ops/matmul.h; arguments are checked by the caller. All work goes to the context's
// stream.
#pragma once

#include "core/context.h"
#include "core/tensor.h"
#include "ops/cpu/gemm.h"

namespace ingot::cuda {

void matmul(Context& ctx, const cpu::Gemm& gemm);

// The most scratch that one of cuBLASLt's algorithms may ask for.
inline constexpr int64_t kMatmulWorkspaceBytes = int64_t{64} << 20;

}  // namespace ingot::cuda
