// Kernels of ops/layer_norm.h.
#pragma once

#include "ops/common/kernel.h"
#include "ops/layer_norm.h"

namespace ingot {

INGOT_KERNEL(void, layer_norm_forward,
             (Context & ctx, const Tensor& x, const Tensor& weight, const Tensor& bias, double eps,
              const Tensor& y, const Tensor& rstd))
INGOT_KERNEL(void, layer_norm_backward, (Context & ctx, const LayerNormBackward& norm))

}  // namespace ingot
