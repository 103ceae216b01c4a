// GPU kernels of ops/random_fill.h; arguments are checked by the caller. All work goes to the
// context's stream.
#pragma once

#include "core/context.h"
#include "core/random.h"
#include "core/tensor.h"

namespace ingot::cuda {

void fill_normal(Context& ctx, const RandomStream& stream, uint64_t first_index, float scale,
                 const Tensor& out);

}  // namespace ingot::cuda
