// GPU kernels of ops/rope.h; arguments are checked by the caller. All work goes to the context's
// stream.
#pragma once

#include "core/context.h"
#include "core/tensor.h"
#include "ops/cpu/rope.h"

namespace ingot::cuda {

void rope(Context& ctx, const Tensor& x, const Tensor& cos, const Tensor& sin, RopePairs pairs,
          const int32_t* positions, int64_t first_position, cpu::Rotation rotation);

}  // namespace ingot::cuda
