// CPU kernels of ops/reduce.h; arguments are checked by the caller.
#pragma once

#include "core/context.h"
#include "core/isa.h"
#include "core/tensor.h"

namespace ingot::cpu {

enum class SumOf { Values, Squares };

INGOT_CPU_KERNEL(double, sum_of, (Context & ctx, const Tensor& tensor, SumOf what))
INGOT_CPU_KERNEL(void, cast, (Context & ctx, const Tensor& src, const Tensor& dst))

}  // namespace ingot::cpu
