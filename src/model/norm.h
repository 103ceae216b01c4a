// The norms of a model: RMSNorm, or LayerNorm if there is a bias.
#pragma once

#include "core/device/context.h"
#include "model/gradient_slots.h"
#include "model/operand.h"

namespace ingot {

// y = norm of x, in compute dtype or, with fp8, in the form that the next GEMM reads; shapes as in
// ops/rms_norm.h and ops/layer_norm.h.
void norm_forward(Context& ctx, const Tensor& x, const Affine<Operand>& w, double eps,
                  const Operand& y, const Tensor& rstd);

// The operands of a norm's backward pass.
struct NormBackward {
  Tensor dy, x;
  const Affine<Operand>& w;
  Tensor rstd;
  Operand dx;  // its 8-bit form is written too, if defined
  Accumulate accumulate;
  const Affine<GradientSlot>& slots;
  // If defined: rebuilt forward output, for the weight gradient of the GEMM that read it.
  Operand y = {};
};
void norm_backward(Context& ctx, const NormBackward& norm);

}  // namespace ingot
