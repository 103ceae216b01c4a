// Kernels of ops/fused_linear.h. False: this GPU has no kernel for these operands, and nothing was
// done.
#pragma once

#include "ops/common/kernel.h"
#include "ops/rope.h"

namespace ingot {

INGOT_CUDA_KERNEL(bool, linear_swiglu_forward,
                  (Context & ctx, const Tensor& x, const Tensor& w, const Tensor& gate_up,
                   const Tensor& out))
INGOT_CUDA_KERNEL(bool, linear_swiglu_backward,
                  (Context & ctx, const Tensor& dy, const Tensor& w, const Tensor& gate_up,
                   const Tensor& dgate_up, const Tensor& out, bool out_is_kept))
INGOT_CUDA_KERNEL(bool, linear_rope_forward,
                  (Context & ctx, const Tensor& x, const Tensor& w, const Tensor& y,
                   const Tensor& heads, const RopeInput& rope))

}  // namespace ingot
