// LayerNorm of rows.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

// y = (x - mean(x)) / sqrt(var(x) + eps) · weight + bias over the last dim. x and y are (N, C) with
// strides allowed between rows; weight and bias are (C); all have one dtype. rstd (N) is F32 (F64
// for F64). The variance is the mean square, as in PyTorch. y may be x.
void layer_norm_forward(Context& ctx, const Tensor& x, const Tensor& weight, const Tensor& bias,
                        double eps, const Tensor& y, const Tensor& rstd);

// The operands of the backward pass.
struct LayerNormBackward {
  Tensor dy;                     // (N, C)
  Tensor x, weight, bias, rstd;  // as in the forward pass; the mean is recomputed
  Tensor dx;                     // (N, C); may be dy unless it accumulates
  bool accumulate_dx = false;    // dx += the gradient instead of dx = the gradient
  Tensor dweight, dbias;         // (C) F32 (F64 for F64), added to
  Tensor y = {};                 // if defined: the forward output, rebuilt bit for bit
};
// Partial sums of dweight and dbias are over fixed parts of the rows, so the result does not depend
// on the number of threads.
void layer_norm_backward(Context& ctx, const LayerNormBackward& norm);

int64_t layer_norm_backward_workspace_bytes(const DeviceFacts& facts, int64_t num_rows,
                                            int64_t width);

}  // namespace ingot
