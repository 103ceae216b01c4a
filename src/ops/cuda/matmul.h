// GPU kernels of ops/matmul.h; arguments are checked by the caller. All work goes to the context's
// stream.
#pragma once

#include "core/context.h"
#include "core/tensor.h"
#include "ops/cpu/gemm.h"

namespace ingot::cuda {

void matmul(Context& ctx, const cpu::Gemm& gemm);
int64_t matmul_workspace_bytes(const Context& ctx);

}  // namespace ingot::cuda
