// Kernels of ops/activation.h.
#pragma once

#include "ops/common/kernel.h"

namespace ingot {

INGOT_KERNEL(void, swiglu_forward, (Context & ctx, const Tensor& gate_up, const Tensor& out))
INGOT_KERNEL(void, swiglu_backward,
             (Context & ctx, const Tensor& dout, const Tensor& gate_up, const Tensor& dgate_up,
              const Tensor& out))
INGOT_KERNEL(void, geglu_forward, (Context & ctx, const Tensor& gate_up, const Tensor& out))
INGOT_KERNEL(void, geglu_backward,
             (Context & ctx, const Tensor& dout, const Tensor& gate_up, const Tensor& dgate_up,
              const Tensor& out))
INGOT_KERNEL(void, gelu_forward, (Context & ctx, const Tensor& x, const Tensor& out))
INGOT_KERNEL(void, gelu_backward,
             (Context & ctx, const Tensor& dout, const Tensor& x, const Tensor& dx,
              const Tensor& out))
INGOT_KERNEL(void, relu_squared_forward, (Context & ctx, const Tensor& x, const Tensor& out))
INGOT_KERNEL(void, relu_squared_backward,
             (Context & ctx, const Tensor& dout, const Tensor& x, const Tensor& dx,
              const Tensor& out))

}  // namespace ingot
