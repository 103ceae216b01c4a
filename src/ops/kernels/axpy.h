// Kernels of ops/axpy.h.
#pragma once

#include "ops/common/kernel.h"

namespace ingot {

// y may be undefined.
INGOT_KERNEL(void, axpy,
             (Context & ctx, double factor, const Tensor& x, const Tensor& y, const Tensor& out))

}  // namespace ingot
