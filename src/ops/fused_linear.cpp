#include "ops/fused_linear.h"

#include "ops/activation.h"
#include "ops/cuda/fused_linear.h"
#include "ops/dispatch.h"
#include "ops/matmul.h"

namespace ingot {

void linear_swiglu_forward(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& gate_up,
                           const Tensor& out) {
  if (runs_on_cuda(ctx, x) && cuda::linear_swiglu_forward(ctx, x, w, gate_up, out)) return;
  linear_forward(ctx, x, w, gate_up);
  swiglu_forward(ctx, gate_up, out);
}

void linear_swiglu_backward(Context& ctx, const Tensor& dy, const Tensor& w, const Tensor& gate_up,
                            const Tensor& dgate_up, const Tensor& out, bool out_is_kept) {
  if (runs_on_cuda(ctx, dy) &&
      cuda::linear_swiglu_backward(ctx, dy, w, gate_up, dgate_up, out, out_is_kept))
    return;
  const Tensor& dout = out;  // (N, F), until it is built again in the same place
  linear_backward_input(ctx, dy, w, dout, Accumulate::No);
  swiglu_backward(ctx, dout, gate_up, dgate_up, out);
}

void linear_rope_forward(Context& ctx, const Tensor& x, const Tensor& w, const Tensor& y,
                         const Tensor& heads, const Tensor& cos, const Tensor& sin, RopePairs pairs,
                         const Tensor& positions, int64_t first_position) {
  if (runs_on_cuda(ctx, x) &&
      cuda::linear_rope_forward(ctx, x, w, y, heads, cos, sin, pairs, positions, first_position))
    return;
  linear_forward(ctx, x, w, y);
  rope_forward(ctx, heads, cos, sin, pairs, positions, first_position);
}

}  // namespace ingot
