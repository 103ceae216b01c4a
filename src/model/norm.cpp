#include "model/norm.h"

#include "ops/fp8.h"
#include "ops/layer_norm.h"
#include "ops/rms_norm.h"

namespace ingot {

void norm_forward(Context& ctx, const Tensor& x, const Affine<Operand>& w, double eps,
                  const Operand& y, const Tensor& rstd) {
  if (w.bias.plain.defined()) {
    layer_norm_forward(ctx, x, w.weight.plain, w.bias.plain, eps, y.plain, rstd);
    quantize_rows(ctx, y);
  } else if (y.fp8.defined()) {
    rms_norm_forward(ctx, x, w.weight.plain, eps, rows_of(y.fp8), rstd);
  } else {
    rms_norm_forward(ctx, x, w.weight.plain, eps, y.plain, rstd);
  }
}

void norm_backward(Context& ctx, const NormBackward& n) {
  const bool adds = n.accumulate == Accumulate::Yes;
  const Tensor dweight = adding_slot(ctx, n.slots.weight);
  if (n.w.bias.plain.defined()) {
    layer_norm_backward(ctx, {.dy = n.dy,
                              .x = n.x,
                              .weight = n.w.weight.plain,
                              .bias = n.w.bias.plain,
                              .rstd = n.rstd,
                              .dx = n.dx.plain,
                              .accumulate_dx = adds,
                              .dweight = dweight,
                              .dbias = adding_slot(ctx, n.slots.bias),
                              .y = n.y.plain});
    quantize_transposed(ctx, n.y);
    quantize_both(ctx, n.dx);
  } else if (n.y.fp8.defined()) {
    rms_norm_backward(ctx, n.dy, n.x, n.w.weight.plain, n.rstd, n.dx.plain, adds, dweight,
                      transposed_of(n.y.fp8), n.dx.fp8);
  } else {
    rms_norm_backward(ctx, n.dy, n.x, n.w.weight.plain, n.rstd, n.dx.plain, adds, dweight,
                      n.y.plain);
    quantize_both(ctx, n.dx);
  }
}

}  // namespace ingot
