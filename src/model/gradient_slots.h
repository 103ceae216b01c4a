// Writes gradients of parameters into the store's slots.
#pragma once

#include "core/device/context.h"
#include "model/operand.h"
#include "parallel/shard/parameter_store.h"

namespace ingot {

// slots (+)= the gradients of y = x · wᵀ + bias. The bias gradient, if there is a bias, uses dy's
// plain form.
void linear_gradients(Context& ctx, const Operand& dy, const Operand& x,
                      const Affine<GradientSlot>& slots);

// The slot for an op that only accumulates: cleared before its first write; undefined if it is
// undefined.
Tensor adding_slot(Context& ctx, const GradientSlot& slot);

}  // namespace ingot
