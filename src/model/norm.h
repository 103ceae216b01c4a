// Norms as a model calls them: RMSNorm, or LayerNorm where there is a bias.
#pragma once

#include "core/device/context.h"
#include "model/gradient_slots.h"
#include "model/operand.h"

namespace ingot {

// y = norm of x, in compute dtype or, under fp8, as the product reads it that comes next; shapes as
// in ops/rms_norm.h and ops/layer_norm.h.
void norm_forward(Context& ctx, const Tensor& x, const Affine<Operand>& w, double eps,
                  const Operand& y, const Tensor& rstd);

// What the way back through a norm reads and writes.
struct NormBackward {
  Tensor dy, x;
  const Affine<Operand>& w;
  Tensor rstd;
  Operand dx;  // its 8-bit form is made as well where it has one
  Accumulate accumulate;
  const Affine<GradientSlot>& slots;
  // Where defined, the forward's y, built again for the weight's gradient of the product that read
  // it.
  Operand y = {};
};
void norm_backward(Context& ctx, const NormBackward& norm);

}  // namespace ingot
