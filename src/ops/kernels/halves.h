// Kernels of ops/halves.h.
#pragma once

#include "ops/common/kernel.h"

namespace ingot {

INGOT_KERNEL(void, split_halves,
             (Context & ctx, const Tensor& exact, const Tensor& high, const Tensor& low))
INGOT_KERNEL(void, join_halves,
             (Context & ctx, const Tensor& high, const Tensor& low, const Tensor& exact))

}  // namespace ingot
