#include "model/gradient_slots.h"

#include "ops/bias.h"
#include "ops/memory.h"

namespace ingot {

void linear_gradients(Context& ctx, const Operand& dy, const Operand& x,
                      const Affine<GradientSlot>& slots) {
  linear_backward_weight(ctx, dy, x, slots.weight.tensor, slots.weight.accumulate);
  if (slots.bias.tensor.defined()) bias_gradient(ctx, dy.plain, adding_slot(ctx, slots.bias));
}

Tensor adding_slot(Context& ctx, const GradientSlot& slot) {
  if (slot.tensor.defined() && slot.accumulate == Accumulate::No) zero(ctx, slot.tensor);
  return slot.tensor;
}

}  // namespace ingot
