// GPU kernels of ops/halves.h; arguments are checked by the caller.
#pragma once

#include "core/context.h"
#include "core/tensor.h"

namespace ingot::cuda {

void split_halves(Context& ctx, const Tensor& exact, const Tensor& high, const Tensor& low);
void join_halves(Context& ctx, const Tensor& high, const Tensor& low, const Tensor& exact);

}  // namespace ingot::cuda
