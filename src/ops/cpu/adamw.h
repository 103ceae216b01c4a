// CPU kernel of ops/adamw.h; arguments are checked by the caller.
#pragma once

#include "core/context.h"
#include "core/isa.h"
#include "core/tensor.h"
#include "ops/adamw.h"

namespace ingot::cpu {

INGOT_CPU_KERNEL(void, adamw, (Context & ctx, const AdamWStep& step, const AdamWTensors& tensors))

}  // namespace ingot::cpu
