// How gradients of parameters are written into the slots that the store gives out.
#pragma once

#include "core/device/context.h"
#include "model/operand.h"
#include "parallel/shard/parameter_store.h"

namespace ingot {

// slots (+)= the gradients of y = x · wᵀ + bias. Of the bias, where there is one, from dy's plain
// form.
void linear_gradients(Context& ctx, const Operand& dy, const Operand& x,
                      const Affine<GradientSlot>& slots);

// The slot for an op that only adds: cleared when this is its first write; undefined where it is.
Tensor adding_slot(Context& ctx, const GradientSlot& slot);

}  // namespace ingot
