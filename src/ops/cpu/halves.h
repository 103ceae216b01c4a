// CPU kernels of ops/halves.h; arguments are checked by the caller.
#pragma once

#include "core/context.h"
#include "core/isa.h"
#include "core/tensor.h"

namespace ingot::cpu {

INGOT_CPU_KERNEL(void, split_halves,
                 (Context & ctx, const Tensor& exact, const Tensor& high, const Tensor& low))
INGOT_CPU_KERNEL(void, join_halves,
                 (Context & ctx, const Tensor& high, const Tensor& low, const Tensor& exact))

}  // namespace ingot::cpu
