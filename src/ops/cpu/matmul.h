// CPU kernel of ops/matmul.h; arguments are checked by the caller.
#pragma once

#include "core/context.h"
#include "ops/cpu/gemm.h"

namespace ingot::cpu {

// The whole product on the context's threads; all operands F64, or each F32 or BF16,
// a and b also 8-bit.
INGOT_CPU_KERNEL(void, matmul, (Context & ctx, const Gemm& gemm))

}  // namespace ingot::cpu
