// Sums of tensors.
#pragma once

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

// out = factor · x + y, or factor · x if y is undefined. All contiguous, of one shape and dtype.
// out may be x or y.
void axpy(Context& ctx, double factor, const Tensor& x, const Tensor& y, const Tensor& out);

}  // namespace ingot
