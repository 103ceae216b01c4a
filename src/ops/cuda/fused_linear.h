// GPU kernels of ops/fused_linear.h. False: this GPU has none, or none for these operands, and
// nothing was done. All work goes to the context's stream.
#pragma once

#include "core/context.h"
#include "core/tensor.h"
#include "ops/rope.h"

namespace ingot::cuda {

bool linear_swiglu_forward(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& gate_up,
                           const Tensor& out);
bool linear_swiglu_backward(Context& ctx, const Tensor& dy, const Tensor& w, const Tensor& gate_up,
                            const Tensor& dgate_up, const Tensor& out, bool out_is_kept);
bool linear_rope_forward(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& y,
                         const Tensor& heads, const Tensor& cos, const Tensor& sin, RopePairs pairs,
                         const Tensor& positions, int64_t first_position);

}  // namespace ingot::cuda
