// Products together with what comes right before or after them: one pass over memory less where the
// GPU has a kernel for it (docs/ops-cuda-fused.md), and else the ops one after the other.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/rope.h"

namespace ingot {

// gate_up(N, 2F) = x(N, C) · w(2F, C)ᵀ, gate then up in each row; out(N, F) = silu(gate) · up.
void linear_swiglu_forward(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& gate_up,
                           const Tensor& out);
// Of y(N, C) = out(N, F) · w(C, F)ᵀ with out = silu(gate) · up: dgate_up(N, 2F), which may be
// gate_up, from dy(N, C). out is built again, bit for bit, so that nobody has to keep it; if
// `out_is_kept`, it holds that already, which may save writing it.
void linear_swiglu_backward(Context& ctx, const Tensor& dy, const Tensor& w, const Tensor& gate_up,
                            const Tensor& dgate_up, const Tensor& out, bool out_is_kept = false);

// y(N, R) = x(N, C) · w(R, C)ᵀ, then rope_forward() of `heads` (B, T, H, D), which lie in y's rows.
void linear_rope_forward(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& y,
                         const Tensor& heads, const RopeInput& rope);

}  // namespace ingot
