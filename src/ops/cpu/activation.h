// CPU kernels of ops/activation.h; arguments are checked by the caller.
#pragma once

#include "core/context.h"
#include "core/isa.h"
#include "core/tensor.h"

namespace ingot::cpu {

INGOT_CPU_KERNEL(void, swiglu_forward, (Context & ctx, const Tensor& gate_up, const Tensor& out))
INGOT_CPU_KERNEL(void, swiglu_backward,
                 (Context & ctx, const Tensor& dout, const Tensor& gate_up, const Tensor& dgate_up,
                  const Tensor& out))
INGOT_CPU_KERNEL(void, relu_squared_forward, (Context & ctx, const Tensor& x, const Tensor& out))
INGOT_CPU_KERNEL(void, relu_squared_backward,
                 (Context & ctx, const Tensor& dout, const Tensor& x, const Tensor& dx,
                  const Tensor& out))

}  // namespace ingot::cpu
