// CPU kernel of ops/adamw.h; arguments are checked by the caller.
#pragma once

#include "core/context.h"
#include "core/tensor.h"
#include "ops/adamw.h"
#include "ops/cpu/isa.h"

namespace ingot::cpu {

// weight is undefined when the master is the weight.
INGOT_CPU_KERNEL(void, adamw,
                 (Context & ctx, const AdamWStep& step, const Tensor& master, const Tensor& grad,
                  const Tensor& m, const Tensor& v, const Tensor& weight))

}  // namespace ingot::cpu
