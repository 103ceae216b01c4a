// CPU kernel of ops/rope.h; arguments are checked by the caller.
#pragma once

#include "core/context.h"
#include "core/isa.h"
#include "core/tensor.h"
#include "ops/rope.h"

namespace ingot::cpu {

enum class Rotation { Forward, Inverse };

// position(b, t) = positions[b·T + t] when positions is not null, else first_position + t.
INGOT_CPU_KERNEL(void, rope,
                 (Context & ctx, const Tensor& x, const Tensor& cos, const Tensor& sin,
                  RopePairs pairs, const int32_t* positions, int64_t first_position,
                  Rotation rotation))

}  // namespace ingot::cpu
