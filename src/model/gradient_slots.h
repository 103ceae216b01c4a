// How gradients of parameters are written into the slots that the store gives out.
#pragma once

#include "core/context.h"
#include "model/operand.h"
#include "parallel/shard/parameter_store.h"

namespace ingot {

// slot (+)= the gradient of the weight of y = x · wᵀ.
void weight_gradient(Context& ctx, const Operand& dy, const Operand& x, const GradientSlot& slot);

// The slot for an op that only adds: cleared when this is its first write.
Tensor adding_slot(Context& ctx, const GradientSlot& slot);

}  // namespace ingot
