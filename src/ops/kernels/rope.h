// Kernel of ops/rope.h.
#pragma once

#include "ops/common/kernel.h"
#include "ops/rope.h"

namespace ingot {

namespace cpu {
enum class Rotation { Forward, Inverse };
}
INGOT_KERNEL(void, rope,
             (Context & ctx, const Tensor& x, const RopeInput& rope, cpu::Rotation rotation))

}  // namespace ingot
