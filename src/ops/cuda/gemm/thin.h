// GEMMs of a few rows, which read w(R, C) at the speed of memory: a decoder's
// (docs/ops-cuda-matmul.md). False: the operands do not fit, and nothing was done.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/common/gemm.h"
#include "ops/rope.h"

namespace ingot::cuda {

// The most rows of x.
inline constexpr int64_t kThinRows = 16;

bool thin_gemm(Context& ctx, const Gemm& gemm);

// As in ops/fused_linear.h, whose arguments they take.
bool thin_swiglu(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& gate_up,
                 const Tensor& out);
bool thin_rope(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& y, const Tensor& heads,
               const RopeInput& rope);

}  // namespace ingot::cuda
