// GEMMs fused with the op before or after them. If the GPU has a kernel for it, that saves a pass
// over memory (docs/ops-cuda-fused.md); otherwise the ops run one after the other.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/rope.h"

namespace ingot {

// gate_up(N, 2F) = x(N, C) · w(2F, C)ᵀ, gate then up in each row; out(N, F) = silu(gate) · up.
void linear_swiglu_forward(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& gate_up,
                           const Tensor& out);
// For y(N, C) = out(N, F) · w(C, F)ᵀ with out = silu(gate) · up: computes dgate_up(N, 2F), which
// may be gate_up, from dy(N, C). out is rebuilt bit for bit, so that it need not be kept. If
// `out_is_kept`, out already holds it, and writing it may be skipped.
void linear_swiglu_backward(Context& ctx, const Tensor& dy, const Tensor& w, const Tensor& gate_up,
                            const Tensor& dgate_up, const Tensor& out, bool out_is_kept = false);

// y(N, R) = x(N, C) · w(R, C)ᵀ, then rope_forward() of `heads` (B, T, H, D), which are part of y's
// rows.
void linear_rope_forward(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& y,
                         const Tensor& heads, const RopeInput& rope);

}  // namespace ingot
