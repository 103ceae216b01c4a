#include "model/gradient_slots.h"

#include "ops/memory.h"

namespace ingot {

void weight_gradient(Context& ctx, const Operand& dy, const Operand& x, const GradientSlot& slot) {
  linear_backward_weight(ctx, dy, x, slot.tensor, slot.accumulate);
}

Tensor adding_slot(Context& ctx, const GradientSlot& slot) {
  if (slot.accumulate == Accumulate::No) zero(ctx, slot.tensor);
  return slot.tensor;
}

}  // namespace ingot
