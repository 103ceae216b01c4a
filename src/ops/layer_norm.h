// LayerNorm of rows.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

// y = (x - mean(x)) / sqrt(var(x) + eps) · weight + bias over the last dim; x and y (N, C), whose
// rows may be strided, weight and bias (C), all of one dtype; rstd (N) F32 (F64 for F64). The
// variance is the mean square, as in PyTorch. y may be x.
void layer_norm_forward(Context& ctx, const Tensor& x, const Tensor& weight, const Tensor& bias,
                        double eps, const Tensor& y, const Tensor& rstd);

// What its backward pass reads and writes.
struct LayerNormBackward {
  Tensor dy;                     // (N, C)
  Tensor x, weight, bias, rstd;  // as the forward pass had them; it takes the mean again
  Tensor dx;                     // (N, C); may be dy where it does not accumulate
  bool accumulate_dx = false;    // dx += the gradient, in place of =
  Tensor dweight, dbias;         // (C) F32 (F64 for F64), added to
  Tensor y = {};                 // undefined, or the forward's output, built again bit for bit
};
// Partial sums of dweight and dbias are over fixed parts of the rows, so the result does not depend
// on the thread count.
void layer_norm_backward(Context& ctx, const LayerNormBackward& norm);

int64_t layer_norm_backward_workspace_bytes(const DeviceFacts& facts, int64_t num_rows,
                                            int64_t width);

}  // namespace ingot
