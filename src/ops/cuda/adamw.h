// GPU kernels of ops/adamw.h; arguments are checked by the caller. All work goes to the context's
// stream.
#pragma once

#include "core/context.h"
#include "core/tensor.h"
#include "ops/adamw.h"

namespace ingot::cuda {

void adamw(Context& ctx, const AdamWStep& step, std::span<const AdamWTensors> tensors);

}  // namespace ingot::cuda
